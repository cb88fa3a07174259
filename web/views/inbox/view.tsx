import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { verdictBeside } from '../../../src/inbox/domain/verdict-beside.ts'
import { callByName, errorText } from '../../api/call.ts'
import type { InboxCard, InboxItemData } from '../../api/entities.ts'
import { isPermitted } from '../../api/session.ts'
import { keysOf } from '../../keys/bindings.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { useRows } from '../../live/rows.ts'
import { resultLines } from '../../palette/results.ts'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import { stepSelection, WaitingRows } from '../../parts/list.tsx'
import { runWhenIdle } from '../../parts/run-when-idle.ts'
import { href, navigate, query, replaceWith, setQuery } from '../../router/location.ts'
import { projectStatus } from '../../shell/project-status.ts'
import { sendings, sendLater, showToast } from '../../shell/toasts.tsx'
import { type CardAction, doneText, verbsOf } from './actions.ts'
import { Card, openerOf, reviewPath, titleOfCard } from './card.tsx'
import './inbox.css'

/** The open inbox items, those that agents and gates wait for first. */
export function View() {
  const inbox = useQuery('inbox', { limit: 100, include: ['evidence'] })
  const { rows, still } = useRows<InboxCard>(
    () => cardsOf(inbox.answer.value?.items),
    ({ item_id }) => item_id,
  )
  // The review is loaded before it is opened.
  useEffect(() => runWhenIdle(() => void import('../review/view.tsx').catch(() => undefined)), [])
  const [asking, setAsking] = useState<{ readonly about: string; readonly verb: CardAction } | null>(null)
  const [restoring, setRestoring] = useState<string | null>(null)
  const order = rows.order.value
  const selected = useSelection(order)
  const card = selected === null ? null : rows.row(selected)?.value

  const step = stepSelection(order, selected)
  const settle = (about: string, verb: CardAction, answer: string) => {
    const of = rows.row(about)?.peek()
    if (!of || sendings.peek().has(about)) return
    setAsking(null)
    const { operation } = verb
    const text = doneText(verb, titleOfCard(of), openerOf(of), answer)
    const input = { ...verb.input(of, answer), ...(of.content !== null && { content: of.content }) }
    const onSent = (result: unknown, project: string) => {
      inbox.refresh()
      void runWaitingCheck(result, project)
    }
    sendLater({ about, operation, input, text, onSent })
  }
  // While a pointer is over the list an answered row stays.
  const waits = (about: string) => inbox.answer.value?.items.some(({ item_id }) => item_id === about) ?? false
  const act = (about: string, verb: CardAction) => {
    if (!waits(about)) return
    if (verb.isPreviewed) setRestoring(about)
    else if (verb.asks === undefined) settle(about, verb, '')
    else setAsking({ about, verb })
  }
  const byKey = (command: NonNullable<CardAction['command']>) => () => {
    const verb = card && verbsOf(card).find((known) => known.command === command)
    if (card && verb) act(card.item_id, verb)
  }
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => card?.task_id && navigate(href(`/tasks/${card.task_id}`)),
    'open diff': () => {
      const path = card && reviewPath(card)
      if (path) navigate(href(path))
    },
    'copy id': () => void (card && navigator.clipboard.writeText(card.item_id)),
    approve: byKey('approve'),
    'send back': byKey('send back'),
    resolve: byKey('resolve'),
  })

  // A new project starts with the first steps.
  const isFresh = projectStatus.value?.events === 0
  useEffect(() => {
    if (isFresh) replaceWith(href('/start'))
  }, [isFresh])

  if (inbox.answer.value === null) return <Pending failure={inbox.failure} title="Inbox" />
  return (
    <div class="page-inner inbox">
      <header class="page-head">
        <h1>Inbox</h1>
        <a class="link" href={href('/review')}>
          Review all new changes
        </a>
      </header>
      <MissingItem items={order} />
      {order.length === 0 ? (
        <EmptyState title="Nothing needs you. Reviews, approvals, blockers and files out of scope appear here.">
          <a class="button" href={href('/board')}>
            See the board
          </a>
        </EmptyState>
      ) : (
        <ul class="cards" {...still}>
          <WaitingRows held={rows.held} release={() => rows.hold(false)} />
          {order.map((key) => {
            const of = rows.row(key)
            return of ? (
              <Card
                key={key}
                card={of}
                isSelected={key === selected}
                isSettled={!waits(key)}
                isAnsweredWithVerdict={
                  verdictBeside(of.peek(), inbox.answer.value?.items ?? []) !== undefined
                }
                asking={asking?.about === key ? asking.verb : null}
                select={() => setQuery({ select: key })}
                act={(verb) => act(key, verb)}
                answer={(verb, text) => settle(key, verb, text)}
                leave={() => setAsking(null)}
              />
            ) : null
          })}
        </ul>
      )}
      {restoring === null ? null : (
        <LostFilesDialog key={restoring} item={restoring} close={() => setRestoring(null)} />
      )}
      {order.length > 0 ? (
        <p class="hint">
          <KeyCap keys="j" /> <KeyCap keys="k" /> move ·{' '}
          {(card ? verbsOf(card) : []).map(({ command, label }) =>
            command === null ? null : (
              <span key={command}>
                <KeyCap keys={keysOf(command)} /> {label.charAt(0).toLowerCase()}
                {label.slice(1)} ·{' '}
              </span>
            ),
          )}
          <KeyCap keys="?" /> all keys
        </p>
      ) : null}
    </div>
  )
}

type LostFilesPart = ComponentType<{ readonly item: string; readonly close: () => void }>

/** The difference that bringing back lost files would make. Its code is loaded when it first opens. */
function LostFilesDialog({ item, close }: { readonly item: string; readonly close: () => void }) {
  const [Part, setPart] = useState<LostFilesPart | null>(null)
  useEffect(() => {
    import('./restore.tsx').then(
      ({ RestoreDialog }) => setPart(() => RestoreDialog),
      () => {
        close()
        showToast({ kind: 'refused', text: 'Cannot load this part. Reload the page.' })
      },
    )
  }, [])
  return Part ? <Part item={item} close={close} /> : null
}

/** An address that names an item which is not open. */
function MissingItem({ items }: { readonly items: readonly string[] }) {
  const wanted = query.value.get('select')
  // An item that was open here has just been answered.
  const wasOpen = useRef(new Set<string>())
  for (const id of items) wasOpen.current.add(id)
  if (wanted === null || wasOpen.current.has(wanted)) return null
  return (
    <p class="inbox-missing muted" role="status">
      The inbox item {wanted} is not open: it was answered, or it does not exist.{' '}
      <a class="link" href={href('/')}>
        Show the open items
      </a>
    </p>
  )
}

function cardsOf(items: readonly InboxItemData[] | undefined): readonly InboxCard[] | null {
  return items?.flatMap(({ evidence, ...item }) => (evidence ? [{ ...item, ...evidence }] : [])) ?? null
}

/**
 * The card that keys act on: the one in the address, else the first of the list when it was opened. When that card leaves
 * the list, nothing is selected until a person selects again: a key never acts on the card that took its place.
 */
function useSelection(order: readonly string[]): string | null {
  const first = useRef<string | null>(null)
  first.current ??= order[0] ?? null
  const selected = query.value.get('select') ?? first.current
  return selected !== null && order.includes(selected) ? selected : null
}

/** Runs the check of finished work that waited for the command which was just allowed, and says what it found. */
async function runWaitingCheck(answer: unknown, project: string): Promise<void> {
  const task = (answer as { readonly verify_task?: string } | undefined)?.verify_task
  if (task === undefined || !isPermitted('verify')) return
  const operation = 'verify'
  try {
    const found = await callByName(operation, { run_id: task }, { project })
    showToast({ kind: 'done', text: resultLines(operation, found).join('. ') }, 10_000)
  } catch (error) {
    showToast({ kind: 'refused', text: errorText(error) })
  }
}

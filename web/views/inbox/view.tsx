import { useEffect, useRef, useState } from 'preact/hooks'
import type { InboxCard, InboxItemData } from '../../api/entities.ts'
import { isPermitted } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { useRows } from '../../live/rows.ts'
import { EmptyState, FailureMessage } from '../../parts/empty-state.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import { stepSelection, WaitingRows } from '../../parts/list.tsx'
import { runWhenIdle } from '../../parts/run-when-idle.ts'
import { href, navigate, query, replaceWith, setQuery } from '../../router/location.ts'
import { projectStatus } from '../../shell/project-status.ts'
import { sendings, sendLater } from '../../shell/toasts.tsx'
import { Card } from './card.tsx'
import { type CardAction, verbsOf } from './verbs.ts'
import './inbox.css'

/** What only a person may settle, oldest first. */
export function View() {
  const inbox = useQuery('inbox', { limit: 100, include: ['evidence'] })
  const { rows, still } = useRows<InboxCard>(
    () => cardsOf(inbox.answer.value?.items),
    ({ item_id }) => item_id,
  )
  // What a card leads to is there before it is clicked.
  useEffect(() => runWhenIdle(() => void import('../review/view.tsx').catch(() => undefined)), [])
  const [asking, setAsking] = useState<{ readonly about: string; readonly verb: CardAction } | null>(null)
  const order = rows.order.value
  const selected = useSelection(order)
  const card = selected === null ? null : rows.row(selected)?.value

  const step = stepSelection(order, selected)
  const settle = (about: string, verb: CardAction, answer: string) => {
    const of = rows.row(about)?.peek()
    if (!of || sendings.peek().has(about)) return
    setAsking(null)
    const { operation, done } = verb
    const text = `${done}: ${of.task_name ?? of.item_id}`
    const input = { ...verb.input(of, answer), ...(of.content !== null && { content: of.content }) }
    sendLater({ about, operation, input, text, sent: inbox.refresh })
  }
  // A row stays where it is while a pointer is over the list, also when somebody has settled it.
  const waits = (about: string) => inbox.answer.value?.items.some(({ item_id }) => item_id === about) ?? false
  const act = (about: string, verb: CardAction) => {
    if (!waits(about)) return
    if (verb.asks === undefined) settle(about, verb, '')
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
    'open diff': () => card?.task_id && navigate(href(`/review/task/${card.task_id}`)),
    'copy id': () => void (card && navigator.clipboard.writeText(card.item_id)),
    approve: byKey('approve'),
    'send back': byKey('send back'),
    resolve: byKey('resolve'),
  })

  // In a project in which nothing happened there is nothing to wait for yet.
  const isFresh = projectStatus.value?.events === 0
  useEffect(() => {
    if (isFresh) replaceWith(href('/start'))
  }, [isFresh])

  if (inbox.answer.value === null) return <FailureMessage failure={inbox.failure} />
  return (
    <div class="page-inner inbox">
      <header class="page-head">
        <h1>Inbox</h1>
        <a class="link" href={href('/review')}>
          All that is new
        </a>
      </header>
      {order.length === 0 ? (
        <EmptyState title="Nothing is waiting. What agents ask of you appears here: approvals, blockers, files outside the scope." />
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
      {order.length > 0 ? (
        <p class="hint">
          <KeyCap keys="j" /> <KeyCap keys="k" /> move ·{' '}
          {isPermitted('resolve') ? (
            <>
              <KeyCap keys="a" /> approve · <KeyCap keys="r" /> send back ·{' '}
            </>
          ) : null}
          <KeyCap keys="?" /> all keys
        </p>
      ) : null}
    </div>
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

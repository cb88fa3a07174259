import type { ReadonlySignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { answeredWithVerdict } from '../../../src/inbox/domain/verdict-beside.ts'
import { formatCount } from '../../../src/kernel/text.ts'
import type { InboxCard } from '../../api/entities.ts'
import { isSingleUser } from '../../api/session.ts'
import { keysOf } from '../../keys/bindings.ts'
import { Agent } from '../../parts/agent.tsx'
import { eventWords } from '../../parts/event-words.ts'
import { ClaimQuote, PlusMinus } from '../../parts/evidence.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import { StatusBadge, StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { CompletionVerdict } from '../../parts/verdict.tsx'
import { href } from '../../router/location.ts'
import { sendings } from '../../shell/toasts.tsx'
import { type CardAction, kindOf, noVerbsReason, verbsOf } from './actions.ts'
import type { FirstHunkWork } from './first-hunk.tsx'

interface InboxCardProps {
  readonly card: ReadonlySignal<InboxCard>
  readonly isSelected: boolean
  /** It was answered, and leaves when the list may move. */
  readonly isSettled: boolean
  /** It only says that work was done again whose verdict is another card. */
  readonly isAnsweredWithVerdict: boolean
  /** The action that needs a text. */
  readonly asking: CardAction | null
  readonly select: () => void
  readonly act: (verb: CardAction) => void
  readonly answer: (verb: CardAction, text: string) => void
  readonly leave: () => void
}

/** An inbox item: the question, its author and age, the evidence, and the actions. */
export function Card({
  card: of,
  isSelected,
  isSettled,
  isAnsweredWithVerdict,
  asking,
  select,
  act,
  answer,
  leave,
}: InboxCardProps) {
  const card = of.value
  const { word, status } = kindOf(card.kind)
  const verbs = verbsOf(card)
  const whyNone = noVerbsReason(card)
  const review = reviewPath(card)
  const sending = sendings.value.get(card.item_id)
  // The question of a verdict is its reasons.
  const isReadBelow = card.kind === 'verdict' && card.verdict !== null
  return (
    <li
      class="card"
      id={card.item_id}
      {...(isSelected && { 'aria-current': 'true' })}
      {...((sending || isSettled) && { 'data-settled': '' })}
      onPointerDown={({ target }) => {
        // Selecting adds keys to the buttons, which would move under the pointer.
        if (!(target instanceof Element && target.closest('button'))) select()
      }}
    >
      <header class="card-head">
        <StatusBadge status={status} word={word} />
        <h2 class="cut">
          <a href={href(subjectOfCard(card).link)}>{subjectOfCard(card).name}</a>
        </h2>
        <span class="card-by muted">
          {card.mission_id !== null && card.mission_name !== null && card.task_id !== null ? (
            <a class="cut card-mission" href={href(`/missions/${card.mission_id}`)}>
              {card.mission_name}
            </a>
          ) : null}
          <Agent
            name={openerOf(card)}
            person={openerOf(card) === card.agent_name ? card.person : card.opened_by_person}
          />
          <span>
            <Since at={card.opened_at} /> ago
          </span>
        </span>
      </header>
      {isReadBelow ? null : (
        <p class="card-question">
          <Prose text={questionOfCard(card)} />
        </p>
      )}
      {card.kind === 'scope' && card.correction !== null ? (
        <p class="card-question">
          <Prose text={card.correction} />
        </p>
      ) : null}
      {isAnsweredWithVerdict ? <p class="muted">{answeredWithVerdict}</p> : null}
      {card.paths.length > 0 && !isReadBelow ? (
        <ul class="out-of-scope">
          {card.paths.slice(0, 8).map((path) => (
            <li key={path} class="mono cut">
              {path}
            </li>
          ))}
          {card.paths_total > 8 ? <li class="muted">{card.paths_total - 8} more</li> : null}
        </ul>
      ) : null}
      {card.cannot_approve ? (
        <p class="muted">
          You cannot approve it. {card.cannot_approve}
          {card.request?.kind === 'decision' && isSingleUser.value
            ? ' You can cancel the run on its page.'
            : ''}
        </p>
      ) : null}
      <FilesToApprove artifacts={card.artifacts} />
      <ChangedTasks card={card} />
      {card.request?.kind === 'command' ? <PinnedFiles request={card.request} /> : null}
      <CommandResults commands={card.commands} />
      {card.is_replaced && card.measured ? (
        <p class="muted">Of attempt {card.measured.attempt}, which a later one replaced:</p>
      ) : null}
      {card.kind === 'scope' || isAnsweredWithVerdict ? null : (
        <CompletionVerdict
          claimed={
            card.claimed
              ? {
                  author: card.claimed_by ?? openerOf(card),
                  person: card.claimed_by_person,
                  status: card.attempt_status,
                  text: <Prose text={card.claimed} />,
                }
              : null
          }
          measured={measuredOf(card)}
          verdict={card.verdict}
          unchanged={card.unchanged_claims}
          denied={card.not_mine}
        />
      )}
      {card.task_id !== null &&
      card.kind !== 'command' &&
      !isAnsweredWithVerdict &&
      (card.measured?.files ?? 0) > 0 ? (
        <FirstHunk
          task={card.task_id}
          attempt={card.is_replaced ? card.attempt_id : null}
          paths={card.kind === 'scope' ? card.paths : null}
          total={card.kind === 'scope' ? card.paths_total : (card.measured?.files ?? 0)}
        />
      ) : null}
      {card.workaround ? (
        <ClaimQuote author={card.opened_by}>
          <Prose text={card.workaround} />
        </ClaimQuote>
      ) : null}
      {sending ? (
        <p class="muted">{sending.text}</p>
      ) : isSettled ? (
        <p class="muted">Answered.</p>
      ) : asking ? (
        <AnswerForm verb={asking} send={(text) => answer(asking, text)} leave={leave} />
      ) : (
        <div class="verbs">
          {whyNone === null || card.cannot_approve ? null : <span class="muted">{whyNone}</span>}
          {verbs.map((verb, at) => (
            <button
              key={verb.label}
              type="button"
              class="button"
              {...(at === 0 && isSelected && { 'data-kind': 'primary' })}
              {...(verb.means !== undefined && { title: verb.means })}
              onClick={() => {
                select()
                act(verb)
              }}
            >
              {verb.label}{' '}
              {verb.command ? <CardKey keys={keysOf(verb.command)} isSelected={isSelected} /> : null}
            </button>
          ))}
          {card.run_id ? (
            <a class="button" href={href(`/runs/${card.run_id}`)}>
              Open run
            </a>
          ) : null}
          {review === null ? null : (
            <a class="button" href={href(review)}>
              Review <CardKey keys={keysOf('open diff')} isSelected={isSelected} />
            </a>
          )}
        </div>
      )}
    </li>
  )
}

function measuredOf({ measured, is_replaced: isReplaced }: Pick<InboxCard, 'measured' | 'is_replaced'>) {
  return measured && { ...measured, attempts: isReplaced ? 1 : measured.attempt }
}

/** The page of the changes that a card is about; null without one. */
export function reviewPath({
  kind,
  run_id: run,
  task_id: task,
  mission_id: mission,
  attempt_status: attempt,
}: InboxCard): string | null {
  if (attempt !== null && kind !== 'command') return `/review/task/${task}`
  return run !== null && task === null && mission !== null ? `/review/mission/${mission}` : null
}

/** The files that an approval is about, by their type. */
function FilesToApprove({ artifacts }: Pick<InboxCard, 'artifacts'>) {
  if (artifacts.length === 0) return null
  return (
    <ul class="pinned-files" aria-label="Files to approve">
      {artifacts.map(({ type, files, total }) => (
        <li key={type}>
          <span class="muted">{type}</span>{' '}
          {total === 0 ? 'The run recorded no file of it.' : <code>{files.join(', ')}</code>}
          {total > files.length ? <span class="muted"> and {total - files.length} more</span> : null}
        </li>
      ))}
    </ul>
  )
}

/** The work that an approval is about: what the mission changed, and each task with its verdict. */
function ChangedTasks({ card: { changed, task_id } }: { readonly card: InboxCard }) {
  const tasks = (changed?.tasks ?? []).filter(({ id }) => id !== task_id)
  if (tasks.length === 0) return null
  return (
    <ul class="changed-tasks" aria-label="Work to approve">
      {changed?.total ? (
        <li class="measured">
          In the mission: {formatCount(changed.total.files, 'file')} <PlusMinus {...changed.total} />
        </li>
      ) : null}
      {tasks.map(({ id, name, measured, accepted_by }) => (
        <li key={id} class="measured">
          <a class="link" href={href(`/tasks/${id}/diff`)}>
            {name}
          </a>
          {measured === null ? null : <span class="muted">{measured.verdict}</span>}
          {accepted_by === null ? null : <span class="muted">accepted by {accepted_by}</span>}
        </li>
      ))}
    </ul>
  )
}

/** The last results of the commands of a run, such as its tests. */
function CommandResults({ commands }: Pick<InboxCard, 'commands'>) {
  if (commands.length === 0) return null
  return (
    <ul class="command-results" aria-label="Results of commands">
      {commands.map(({ run, status, ended_at }) => (
        <li key={run} class="measured">
          <StatusIcon status={status === 'passed' ? 'done' : 'failed'} named={false} />
          <b>{eventWords(status)}</b> <code>{run}</code>
          {ended_at === null ? null : (
            <span class="muted">
              <Since at={ended_at} /> ago
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The first changed lines, loaded after the page: enough to decide small items. */
function FirstHunk(work: FirstHunkWork) {
  const [Part, setPart] = useState<ComponentType<FirstHunkWork> | null>(() => firstHunk)
  useEffect(() => {
    if (Part !== null) return
    const load = async () => {
      const part = await import('./first-hunk.tsx').catch(() => null) // the card is whole without it
      firstHunk = part?.FirstHunk ?? null
      setPart(() => firstHunk)
    }
    void load()
  }, [Part])
  return Part ? <Part {...work} /> : null
}

let firstHunk: ComponentType<FirstHunkWork> | null = null

type CommandCardRequest = Extract<NonNullable<InboxCard['request']>, { readonly kind: 'command' }>

/** The files that the approval of a command is bound to, and their changes since the last approval. */
function PinnedFiles({ request: { files = [], before } }: { readonly request: CommandCardRequest }) {
  return (
    <>
      {files.length > 0 ? (
        <ul class="pinned-files">
          {files.map(({ path, sha256, text }) => (
            <li key={path} class="mono cut">
              {path} <span class="muted">{text ?? sha256?.slice(0, 12) ?? 'none'}</span>
            </li>
          ))}
        </ul>
      ) : null}
      {before && before.diff !== '' ? <pre class="pinned-diff mono">{before.diff}</pre> : null}
    </>
  )
}

/** The author of the item; for an item of Waymark, the agent whose work it is about. */
export function openerOf({ opened_by, agent_name }: InboxCard): string {
  return opened_by === 'waymark' ? (agent_name ?? opened_by) : opened_by
}

/** What an item is about. */
export function titleOfCard(card: InboxCard): string {
  return subjectOfCard(card).name
}

/** The subject of the item and its page. */
function subjectOfCard(card: InboxCard): { readonly name: string; readonly link: string } {
  if (card.task_id) return { name: card.task_name ?? card.task_id, link: `/tasks/${card.task_id}` }
  if (card.run_id && card.mission_name === null)
    return { name: card.run?.process_name ?? card.run_id, link: `/runs/${card.run_id}` }
  if (card.mission_id === null) return { name: 'Lost files', link: '/log' }
  return { name: card.mission_name ?? '', link: `/missions/${card.mission_id}` }
}

function questionOfCard(card: InboxCard): string {
  if (card.run && card.request?.kind === 'decision') {
    const subject = card.task_id !== null ? 'The task' : card.mission_id !== null ? 'The mission' : 'The run'
    return `${subject} waits at the step \`${card.run.state}\` of the process ${card.run.process_name} for your decision: ${joinAlternatives(card.request.events.map(eventWords))}.`
  }
  if (card.kind !== 'scope' || card.request?.kind === 'changes') return card.reason
  if (card.areas.length === 0) return card.reason
  const areas = card.areas.map((area) => `\`${area}\``).join(', ')
  return `${formatCount(card.paths_total, 'file')} changed outside the scope, which is ${areas}:`
}

/** `Approve, Send back or Reject`. */
function joinAlternatives(words: readonly string[]): string {
  const last = words.at(-1) ?? 'an approval'
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

interface AnswerFormProps {
  readonly verb: CardAction
  readonly send: (text: string) => void
  readonly leave: () => void
}

/** The key of an action. It keeps its place on other cards: a click selects a card, and must not move the buttons. */
function CardKey({ keys, isSelected }: { readonly keys: string; readonly isSelected: boolean }) {
  return (
    <span class="card-key" data-hidden={isSelected ? undefined : ''}>
      <KeyCap keys={keys} />
    </span>
  )
}

/** Asks for the answer to the agent. Ctrl or ⌘ with Enter sends it. */
function AnswerForm({ verb, send, leave }: AnswerFormProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.form?.scrollIntoView({ block: 'nearest' })
  }, [])
  const submit = () => {
    const text = field.current?.value.trim() ?? ''
    if (text === '') field.current?.focus()
    else send(text)
  }
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') leave()
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
      }}
    >
      <label for={id}>{verb.asks}</label>
      <textarea id={id} class="field" ref={field} rows={2} maxLength={20_000} required />
      <div class="verbs">
        <button type="submit" class="button" data-kind="primary">
          {verb.label}
        </button>
        <button type="button" class="button" onClick={leave}>
          Cancel <KeyCap keys="Escape" />
        </button>
      </div>
    </form>
  )
}

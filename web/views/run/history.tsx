import { approvalsByEvent, entryStamp } from '../../../src/gate/domain/approvals-by-event.ts'
import type {
  RunApprovalData,
  RunEventData,
  RunRefusalData,
  RunHistory as Shown,
} from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { Agent } from '../../parts/agent.tsx'
import { eventWords } from '../../parts/event-words.ts'
import { stepSelection } from '../../parts/list.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import { TimeOfDay } from '../../parts/time.tsx'
import { query, setQuery } from '../../router/location.ts'

interface RunHistoryEntry {
  readonly key: string
  readonly at: string
  readonly moved: RunEventData | null
  readonly refused: RunRefusalData | null
  readonly approved: RunApprovalData | null
  /** The approvals of the event. */
  readonly approvals: readonly RunApprovalData[]
}

/** The transitions and refused events of the run, newest first. */
export function RunSteps({ history }: { readonly history: Shown }) {
  const entries = entriesOf(history)
  const selected = query.value.get('select')
  const step = stepSelection(
    entries.map(({ key }) => key),
    selected,
  )
  useCommands({ next: step(1), previous: step(-1), close: () => setQuery({ select: null }) })
  const hidden =
    history.events_total + history.refusals_total - history.events.length - history.refusals.length
  return (
    <section class="run-history">
      <h2>History</h2>
      {entries.length === 0 ? <p class="muted">No events yet. Each event of the run appears here.</p> : null}
      <ul>
        {entries.map((entry) => (
          <li
            key={entry.key}
            id={entry.key}
            {...(entry.key === selected && { 'aria-current': 'true' })}
            onPointerDown={() => setQuery({ select: entry.key })}
          >
            {entry.moved ? <MoveEntry event={entry.moved} approvals={entry.approvals} /> : null}
            {entry.refused ? <RefusalItem refusal={entry.refused} /> : null}
            {entry.approved ? <ApprovalItem approval={entry.approved} /> : null}
          </li>
        ))}
      </ul>
      {hidden > 0 ? (
        <p class="muted">
          {hidden} earlier entries. See all with <code>waymark run history</code>.
        </p>
      ) : null}
    </section>
  )
}

function MoveEntry({
  event,
  approvals,
}: {
  readonly event: RunEventData
  readonly approvals: readonly RunApprovalData[]
}) {
  const files = event.artifacts.length
  return (
    <>
      <StatusIcon status={event.kind === 'cancellation' ? 'dropped' : 'done'} named={false} />
      <div class="history-text">
        <p>
          <b>{event.kind === 'event' ? eventWords(event.event) : kinds[event.kind]}</b>{' '}
          {event.state_changed ? `${event.from_state} → ${event.to_state}` : `stays in ${event.to_state}`}{' '}
          <span class="id">rev {event.revision}</span>
        </p>
        {event.kind === 'event' ? null : <p class="muted">{event.event}</p>}
        {payloadText(event.payload) === '' ? null : <p class="muted said">{payloadText(event.payload)}</p>}
        {distinctApprovals(approvals).map((approval) => (
          <p key={`${approval.role} ${approval.artifact}`} class="muted said">
            Approved {approval.artifact ?? 'the state'} as {approval.role}
            {approval.withdrawn_at === null ? '' : ' (withdrawn since)'}
            {approval.reason === null || approval.reason === event.payload['reason']
              ? ''
              : `: ${approval.reason}`}
          </p>
        ))}
        {files > 0 ? (
          <p class="muted mono cut">{event.artifacts.map(({ path }) => path).join('  ')}</p>
        ) : null}
      </div>
      <Agent name={event.author} />
      <TimeOfDay at={event.created_at} />
    </>
  )
}

/** The approvals without repetitions: one person may hold several roles. */
function distinctApprovals(approvals: readonly RunApprovalData[]): readonly RunApprovalData[] {
  const distinct = new Map(
    approvals.map((approval) => [JSON.stringify([approval.role, approval.artifact]), approval]),
  )
  return [...distinct.values()]
}

function RefusalItem({ refusal }: { readonly refusal: RunRefusalData }) {
  return (
    <>
      <StatusIcon status="review" named={false} />
      <div class="history-text">
        <p>
          <b>{eventWords(refusal.event)}</b> refused <span class="muted">in {refusal.state}</span>
        </p>
        <p class="muted said">
          {refusal.missing_guards.length > 0 ? `${refusal.missing_guards.join('; ')}.` : refusal.message}
          {refusal.tried_files.length > 0
            ? ` Tried: ${refusal.tried_files.map(({ path }) => path).join(', ')}`
            : ''}
        </p>
      </div>
      <Agent name={refusal.author} />
      <TimeOfDay at={refusal.created_at} />
    </>
  )
}

function ApprovalItem({ approval }: { readonly approval: RunApprovalData }) {
  return (
    <>
      <StatusIcon status={approval.withdrawn_at === null ? 'done' : 'dropped'} named={false} />
      <div class="history-text">
        <p>
          <b>Approved</b> {approval.artifact ?? 'the state'} <span class="muted">as {approval.role}</span>
          {approval.withdrawn_at === null ? null : <span class="muted"> (withdrawn since)</span>}
        </p>
        {approval.reason === null ? null : <p class="muted said">{approval.reason}</p>}
      </div>
      <Agent name={approval.author} />
      <TimeOfDay at={approval.created_at} />
    </>
  )
}

const kinds = { migration: 'Moved to another version', cancellation: 'Canceled' } as const

const nothing = { moved: null, refused: null, approved: null, approvals: [] }

function entriesOf({ events, refusals, approvals }: Shown): readonly RunHistoryEntry[] {
  const given = approvalsByEvent(events, approvals, entryStamp)
  const all: readonly RunHistoryEntry[] = [
    ...events.map((event) => ({
      ...nothing,
      key: event.event_id,
      at: event.created_at,
      moved: event,
      approvals: given.byEvent.get(event) ?? [],
    })),
    ...given.alone.map((approval, at) => ({
      ...nothing,
      key: `approved-${at}`,
      at: approval.created_at,
      approved: approval,
    })),
    ...refusals.map((refusal, at) => ({
      ...nothing,
      key: `refused-${refusal.created_at}-${at}`,
      at: refusal.created_at,
      refused: refusal,
    })),
  ]
  return all.toSorted((a, b) => b.at.localeCompare(a.at))
}

/** The payload of the event, cut to a line. */
function payloadText(payload: RunEventData['payload']): string {
  return Object.entries(payload)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
    .slice(0, 400)
}

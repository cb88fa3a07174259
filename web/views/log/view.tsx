import { useComputed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { LogEntry } from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { useRows } from '../../live/rows.ts'
import { Agent } from '../../parts/agent.tsx'
import { ConnectAgent, EmptyState, Skeleton } from '../../parts/empty-state.tsx'
import { FilterField, WaitingRows } from '../../parts/list.tsx'
import { useNames } from '../../parts/names.ts'
import { StatusIcon } from '../../parts/status.tsx'
import { CopyButton } from '../../parts/text.tsx'
import { TimeOfDay } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { logEntryWords, useLogEntries } from './event-rows.ts'
import './log.css'

/** Every log entry, newest first. */
export function View() {
  const { events, hasOlder, older } = useLogEntries()
  const { rows, still } = useRows<LogEntry>(
    () => events.value,
    ({ seq }) => String(seq),
  )
  const names = useNames()
  const shown = useComputed(() =>
    rows.order.value.filter((key) => isWanted(rows.row(key)?.value, query.value)),
  )
  const keys = shown.value
  const selected = query.value.get('select')
  const event = selected === null ? undefined : rows.row(selected)?.peek()
  const kinds = useMemo(
    () => [...new Set((events.value ?? []).map(({ kind }) => kind))].sort(),
    [events.value],
  )
  const step = (by: number) => () => {
    const next = keys[Math.min(Math.max(keys.indexOf(selected ?? '') + by, 0), keys.length - 1)]
    if (next !== undefined) setQuery({ select: next })
  }
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => {
      const link = event && logEntryWords(event, names).link
      if (link) navigate(href(link))
    },
    'copy id': () => void (event && navigator.clipboard.writeText(event.hash)),
    close: () => setQuery({ select: null }),
  })
  if (events.value === null) return <Skeleton title="Log" rows={12} />
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>Log</h1>
        <Chain />
        <FilterField />
        <select
          class="field"
          aria-label="Filter by kind"
          value={query.value.get('kind') ?? ''}
          onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}
        >
          <option value="">All kinds</option>
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {kind}
            </option>
          ))}
        </select>
      </header>
      {events.value.length === 0 ? (
        <EmptyState title="Everything that happens appears here, in order.">
          <ConnectAgent />
        </EmptyState>
      ) : (
        <div class="full-width log" {...still}>
          {hasGaps(events.value) ? (
            <p class="log-gaps muted">
              Some numbers are not listed. Those entries only record who wrote which lines.
            </p>
          ) : null}
          <WaitingRows held={rows.held} release={() => rows.hold(false)} />
          <VirtualList
            keys={keys}
            label="Log entries"
            selected={selected}
            row={(key) => {
              const row = rows.row(key)
              return row ? (
                <LogEntryRow key={key} event={row.peek()} names={names} isSelected={key === selected} />
              ) : null
            }}
          />
          {hasOlder.value ? (
            <button type="button" class="button older" onClick={older}>
              Older entries
            </button>
          ) : null}
        </div>
      )}
      {event ? <LogEntryDetail event={event} names={names} /> : null}
    </div>
  )
}

interface LogEntryRowProps {
  readonly event: LogEntry
  readonly names: ReadonlyMap<string, string>
  readonly isSelected: boolean
}

function LogEntryRow({ event, names, isSelected }: LogEntryRowProps) {
  const { seq, happened_at: happenedAt, actor, hash } = event
  const { what, link } = logEntryWords(event, names)
  return (
    <li
      class="log-row"
      {...(isSelected && { 'aria-current': 'true' })}
      onPointerDown={() => setQuery({ select: String(seq) })}
    >
      <span class="count log-seq">{seq}</span>
      <span class="muted log-time">
        <TimeOfDay at={happenedAt} />
      </span>
      <span class="log-actor">
        <Agent name={actor} />
        {event.person !== null && <span class="muted"> ({event.person})</span>}
      </span>
      <span class="log-what cut wide" title={what}>
        {link ? <a href={href(link)}>{what}</a> : what}
      </span>
      <span class="id">{hash.slice(0, 8)}</span>
    </li>
  )
}

function LogEntryDetail({ event, names }: Omit<LogEntryRowProps, 'isSelected'>) {
  const { what, link } = logEntryWords(event, names)
  const text = JSON.stringify(event.body, null, 2)
  return (
    <aside class="log-detail" aria-label={`Log entry ${event.seq}`}>
      <header>
        <b>
          {event.seq} {event.kind}
        </b>
        <span class="muted">
          {event.actor}
          {event.person === null ? '' : ` (${event.person})`}, {event.actor_kind}, by {event.channel}
          {event.client !== null && event.client !== event.actor && ` of ${event.client}`}
        </span>
        <CopyButton text={text} />
        <button type="button" class="button" data-kind="plain" onClick={() => setQuery({ select: null })}>
          Close
        </button>
      </header>
      <p class="log-sentence">{link ? <a href={href(link)}>{what}</a> : what}</p>
      <p class="muted">
        <TimeOfDay at={event.happened_at} />
        {event.recorded_at === event.happened_at ? null : (
          <>
            , recorded <TimeOfDay at={event.recorded_at} />
          </>
        )}
      </p>
      <p class="mono muted">{event.hash}</p>
      <pre>{text}</pre>
    </aside>
  )
}

/** Whether numbers between the loaded entries are missing. */
function hasGaps(events: readonly LogEntry[]): boolean {
  const [newest, oldest] = [events[0], events.at(-1)]
  return newest !== undefined && oldest !== undefined && newest.seq - oldest.seq >= events.length
}

function isWanted(event: LogEntry | undefined, wanted: URLSearchParams): boolean {
  if (!event) return false
  const kind = wanted.get('kind')
  if (kind !== null && event.kind !== kind) return false
  const words = (wanted.get('words') ?? '').toLowerCase()
  if (words === '') return true
  return `${event.kind} ${event.actor} ${event.person ?? ''} ${JSON.stringify(event.body)}`
    .toLowerCase()
    .includes(words)
}

/** The check of the hash chain: when the view opens, and on request. */
function Chain() {
  const doctor = useQuery('doctor', { chain: true })
  const checks = doctor.answer.value?.checks ?? []
  const log = checks.find(({ ok }) => !ok) ?? checks.find(({ check }) => check === 'log')
  if (!log) return <span class="muted">Checking the hash chain…</span>
  return (
    <span class="chain" data-broken={log.ok ? undefined : ''}>
      <StatusIcon status={log.ok ? 'done' : 'blocked'} named={false} /> {log.finding}
      <button type="button" class="button" data-kind="plain" onClick={doctor.refresh}>
        Check again
      </button>
    </span>
  )
}

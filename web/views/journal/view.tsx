import { useComputed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { EntityNames, LogEntry } from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { useRows } from '../../live/rows.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FilterField, WaitingRows } from '../../parts/list.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import { CopyButton } from '../../parts/text.tsx'
import { Clock } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { logEntryWords, useLogEntries } from './event-rows.ts'
import './journal.css'

/** Every fact, newest first. */
export function View() {
  const { facts, hasOlder, older } = useLogEntries()
  const { rows, still } = useRows<LogEntry>(
    () => facts.value,
    ({ seq }) => String(seq),
  )
  const named = useQuery('search', {})
  const names = useMemo(() => namesOf(named.answer.value), [named.answer.value])
  const shown = useComputed(() =>
    rows.order.value.filter((key) => isWanted(rows.row(key)?.value, query.value)),
  )
  const keys = shown.value
  const selected = query.value.get('select')
  const fact = selected === null ? undefined : rows.row(selected)?.peek()
  const kinds = useMemo(() => [...new Set((facts.value ?? []).map(({ kind }) => kind))].sort(), [facts.value])
  const step = (by: number) => () => {
    const next = keys[Math.min(Math.max(keys.indexOf(selected ?? '') + by, 0), keys.length - 1)]
    if (next !== undefined) setQuery({ select: next })
  }
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => {
      const link = fact && logEntryWords(fact, names).link
      if (link) navigate(href(link))
    },
    'copy id': () => void (fact && navigator.clipboard.writeText(fact.hash)),
    close: () => setQuery({ select: null }),
  })
  if (facts.value === null) return null
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
          <option value="">Every kind</option>
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {kind}
            </option>
          ))}
        </select>
      </header>
      {facts.value.length === 0 ? (
        <EmptyState title="Everything that happens appears here, in order." command="waymark demo" />
      ) : (
        <div class="full-width journal" {...still}>
          <WaitingRows held={rows.held} release={() => rows.hold(false)} />
          <VirtualList
            keys={keys}
            label="Log entries"
            selected={selected}
            row={(key) => {
              const row = rows.row(key)
              return row ? (
                <LogEntryRow key={key} fact={row.peek()} names={names} isSelected={key === selected} />
              ) : null
            }}
          />
          {hasOlder.value ? (
            <button type="button" class="button older" onClick={older}>
              Older facts
            </button>
          ) : null}
        </div>
      )}
      {fact ? <LogEntryDetail fact={fact} /> : null}
    </div>
  )
}

function namesOf(named: EntityNames | null): ReadonlyMap<string, string> {
  if (named === null) return new Map()
  return new Map([...named.missions, ...named.tasks].map(({ id, name }) => [id, name]))
}

interface LogEntryRowProps {
  readonly fact: LogEntry
  readonly names: ReadonlyMap<string, string>
  readonly isSelected: boolean
}

function LogEntryRow({ fact, names, isSelected }: LogEntryRowProps) {
  const { seq, at, actor, hash } = fact
  const { what, about, link } = logEntryWords(fact, names)
  return (
    <li
      class="fact-row"
      {...(isSelected && { 'aria-current': 'true' })}
      onPointerDown={() => setQuery({ select: String(seq) })}
    >
      <span class="count fact-seq">{seq}</span>
      <span class="muted fact-time">
        <Clock at={at} />
      </span>
      <span class="fact-actor">
        <Agent name={actor} />
        {fact.person !== null && <span class="muted"> ({fact.person})</span>}
      </span>
      <span class="fact-what">{what}</span>
      <span class="cut wide muted">{link ? <a href={href(link)}>{about || link}</a> : about}</span>
      <span class="id">{hash.slice(0, 8)}</span>
    </li>
  )
}

function LogEntryDetail({ fact }: { readonly fact: LogEntry }) {
  const text = JSON.stringify(fact.body, null, 2)
  return (
    <aside class="fact-detail" aria-label={`Log entry ${fact.seq}`}>
      <header>
        <b>
          {fact.seq} {fact.kind}
        </b>
        <span class="muted">
          {fact.actor}
          {fact.person === null ? '' : ` (${fact.person})`}, {fact.actor_kind}, by {fact.channel}
          {fact.client !== null && fact.client !== fact.actor && ` of ${fact.client}`}
        </span>
        <CopyButton text={text} />
        <button type="button" class="button" data-kind="plain" onClick={() => setQuery({ select: null })}>
          Close
        </button>
      </header>
      {fact.recorded_at === fact.at ? null : (
        <p class="muted">
          Recorded <Clock at={fact.recorded_at} />
        </p>
      )}
      <p class="mono muted">{fact.hash}</p>
      <pre>{text}</pre>
    </aside>
  )
}

function isWanted(fact: LogEntry | undefined, wanted: URLSearchParams): boolean {
  if (!fact) return false
  const kind = wanted.get('kind')
  if (kind !== null && fact.kind !== kind) return false
  const words = (wanted.get('words') ?? '').toLowerCase()
  if (words === '') return true
  return `${fact.kind} ${fact.actor} ${fact.person ?? ''} ${JSON.stringify(fact.body)}`
    .toLowerCase()
    .includes(words)
}

/** Whether the chain of hashes holds, and ends where it is known to. Checked when the view is opened, and on request. */
function Chain() {
  const doctor = useQuery('doctor', { chain: true })
  const checks = doctor.answer.value?.checks ?? []
  const journal = checks.find(({ ok }) => !ok) ?? checks.find(({ check }) => check === 'journal')
  if (!journal) return <span class="muted">Checking the hash chain…</span>
  return (
    <span class="chain" data-broken={journal.ok ? undefined : ''}>
      <StatusIcon status={journal.ok ? 'done' : 'blocked'} named={false} /> {journal.finding}
      <button type="button" class="button" data-kind="plain" onClick={doctor.refresh}>
        Check again
      </button>
    </span>
  )
}

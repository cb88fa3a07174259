import { type ReadonlySignal, useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Mission } from '../api/entities.ts'
import { useCommands } from '../keys/commands.ts'
import { useQuery } from '../live/query.ts'
import { useRows } from '../live/rows.ts'
import { href, navigate, query, setQuery } from '../router/location.ts'
import { durationText } from './duration.ts'
import { Failed } from './empty-state.tsx'
import { FilterField, useFlash, WaitingRows } from './list.tsx'
import { StatusIcon, statusOf } from './status.tsx'
import { shortId } from './text.tsx'
import { Clock, Since } from './time.tsx'
import { VirtualList } from './virtual-list.tsx'
import './mission-row.css'

interface MissionListProps {
  readonly status: 'open' | 'ended'
  readonly label: string
  readonly empty: ComponentChildren
}

/** Missions and workflows of one kind, live, with a filter in the address. */
export function MissionList({ status, label, empty }: MissionListProps) {
  const missions = useQuery('list_missions', { status, limit: 200 })
  const { rows, still } = useRows<Mission>(
    () => missions.answer.value?.missions ?? null,
    ({ mission_id }) => mission_id,
  )
  const shown = useComputed(() => {
    const words = (query.value.get('words') ?? '').toLowerCase()
    const isWanted = (key: string) => {
      const row = rows.row(key)?.value
      return `${row?.name} ${row?.objective} ${key}`.toLowerCase().includes(words)
    }
    return words === '' ? rows.order.value : rows.order.value.filter(isWanted)
  })
  const keys = shown.value
  const selected = query.value.get('select')
  const step = (by: number) => () => {
    const next = keys[Math.min(Math.max(keys.indexOf(selected ?? '') + by, 0), keys.length - 1)]
    if (next !== undefined) setQuery({ select: next })
  }
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(href(`/missions/${selected}`)),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
    close: () => setQuery({ select: null }),
  })
  const answer = missions.answer.value
  if (answer === null) return <Failed failure={missions.failure} />
  if (answer.total === 0) return <>{empty}</>
  return (
    <div class="full-width mission-list" {...still}>
      <div class="list-filter">
        <FilterField />
        <span class="muted">
          {keys.length} of {answer.total}
        </span>
      </div>
      <WaitingRows held={rows.held} release={() => rows.hold(false)} />
      <VirtualList
        keys={keys}
        label={label}
        selected={selected}
        row={(key) => {
          const row = rows.row(key)
          return row ? <MissionRow key={key} row={row} isSelected={key === selected} /> : null
        }}
      />
    </div>
  )
}

/** One mission as a dense line. */
function MissionRow({
  row,
  isSelected,
}: {
  readonly row: ReadonlySignal<Mission>
  readonly isSelected: boolean
}) {
  const mission = row.value
  const { mission_id, name, status, current_phase, total_phases, open_tasks, done_tasks, open_blockers } =
    mission
  const element = useRef<HTMLLIElement>(null)
  useFlash(element, `${status} ${done_tasks} ${open_tasks} ${open_blockers}`)
  return (
    <li ref={element} class="mission-row" {...(isSelected && { 'aria-current': 'true' })}>
      <StatusIcon status={open_blockers > 0 ? 'blocked' : statusOf(status)} />
      <a class="cut wide" href={href(`/missions/${mission_id}`)}>
        {name} <span class="muted">{mission.objective}</span>
      </a>
      {open_blockers > 0 ? <b class="mission-blockers">{open_blockers} blocking</b> : null}
      <span class="mission-number">
        phase {current_phase ?? 1} of {total_phases}
      </span>
      <span class="mission-number">
        {done_tasks} done{open_tasks > 0 ? ` · ${open_tasks} open` : ''}
      </span>
      <span class="mission-time muted">
        {mission.completed_at === null ? (
          <Since at={mission.created_at} />
        ) : (
          <>
            <Clock at={mission.completed_at} /> ·{' '}
            {durationText(Date.parse(mission.completed_at) - Date.parse(mission.created_at))}
          </>
        )}
      </span>
      <span class="id">{shortId(mission_id)}</span>
    </li>
  )
}

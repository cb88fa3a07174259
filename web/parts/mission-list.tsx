import { type ReadonlySignal, useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { formatCount } from '../../src/kernel/text.ts'
import { leftWorkText } from '../../src/track/domain/mission.ts'
import type { MissionData } from '../api/entities.ts'
import { useCommands } from '../keys/commands.ts'
import { useQuery } from '../live/query.ts'
import { useRows } from '../live/rows.ts'
import { href, navigate, query, setQuery } from '../router/location.ts'
import { Agent } from './agent.tsx'
import { durationText } from './duration.ts'
import { Pending } from './empty-state.tsx'
import { PlusMinus } from './evidence.tsx'
import { FilterField, stepSelection, useDrawnRows, useFlash, WaitingRows } from './list.tsx'
import { missionStatus, StatusBadge, StatusIcon } from './status.tsx'
import { shortId } from './text.tsx'
import { Since, TimeOfDay } from './time.tsx'
import './mission-card.css'

interface MissionListProps {
  readonly status: 'open' | 'ended'
  readonly label: string
  readonly empty: ComponentChildren
}

/** Missions and workflows of one kind, live, with a filter in the address. */
export function MissionList({ status, label, empty }: MissionListProps) {
  const missions = useQuery('list_missions', { status, limit: 200, include: ['work'] })
  const { rows, still } = useRows<MissionData>(
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
  const step = stepSelection(keys, selected)
  const { drawn, end } = useDrawnRows(keys, keys.indexOf(selected ?? ''))
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(href(`/missions/${selected}`)),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
    close: () => setQuery({ select: null }),
  })
  const answer = missions.answer.value
  if (answer === null) return <Pending failure={missions.failure} />
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
      <ul class="mission-cards" aria-label={label}>
        {drawn.map((key) => {
          const row = rows.row(key)
          return row ? <MissionCard key={key} row={row} isSelected={key === selected} /> : null
        })}
        {end}
      </ul>
    </div>
  )
}

/** A mission: its objective, agents, progress, changes and inbox items. */
function MissionCard({
  row,
  isSelected,
}: {
  readonly row: ReadonlySignal<MissionData>
  readonly isSelected: boolean
}) {
  const mission = row.value
  const { mission_id, name, objective, status, open_tasks, done_tasks, to_do_tasks } = mission
  const { current_phase, total_phases, completed_at, left, work } = mission
  const { waiting = 0, agents = [], agents_total = 0, files = 0 } = work ?? {}
  const { added_lines = null, deleted_lines = null } = work ?? {}
  const element = useRef<HTMLLIElement>(null)
  useFlash(element, `${status} ${done_tasks} ${open_tasks} ${waiting}`)
  const all = done_tasks + open_tasks + to_do_tasks
  return (
    <li ref={element} class="mission-card" id={mission_id} {...(isSelected && { 'aria-current': 'true' })}>
      <StatusIcon
        status={mission.open_blockers > 0 ? 'blocked' : missionStatus(status, all - done_tasks).status}
      />
      <div class="mission-main">
        <h2>
          <a href={href(`/missions/${mission_id}`)}>{name}</a> <span class="id">{shortId(mission_id)}</span>{' '}
          {mission.open_blockers > 0 ? <StatusBadge status="blocked" /> : null}
        </h2>
        {objective === null ? null : <p class="muted mission-objective">{objective}</p>}
        <p class="mission-agents">
          {agents.map(({ name: agent, working }) => (
            <span key={agent} {...(working && { 'data-working': '', title: 'Working now' })}>
              <Agent name={agent} />
              {working ? <span class="muted"> working</span> : null}
            </span>
          ))}
          {agents_total > agents.length ? (
            <span class="muted">{agents_total - agents.length} more</span>
          ) : null}
        </p>
      </div>
      <div class="mission-side">
        {waiting > 0 ? (
          <a class="mission-waiting" href={href('/')}>
            {waiting === 1 ? '1 needs you' : `${waiting} need you`}
          </a>
        ) : null}
        <progress
          class="progress mission-progress"
          max={Math.max(all, 1)}
          value={done_tasks}
          aria-label={`${done_tasks} of ${all} tasks done`}
        />
        <span>
          {done_tasks} of {formatCount(all, 'task')} done
          {open_tasks > 0 ? `, ${open_tasks} in progress` : ''}
        </span>
        {left === undefined ? null : <span class="mission-left">{leftWorkText(left)}</span>}
        <span class="muted">
          {total_phases === 0 || completed_at !== null
            ? null
            : `phase ${Math.min(current_phase, total_phases)} of ${total_phases}`}
        </span>
      </div>
      <div class="mission-side">
        {files === 0 ? (
          <span class="muted">no changes yet</span>
        ) : (
          <a class="mission-files" href={href(`/review/mission/${mission_id}`)}>
            {formatCount(files, 'file')} <PlusMinus added_lines={added_lines} deleted_lines={deleted_lines} />{' '}
            <span class="muted">net</span>
          </a>
        )}
        <span class="muted">
          {completed_at === null ? (
            <>
              started <Since at={mission.created_at} /> ago
            </>
          ) : (
            <>
              <TimeOfDay at={completed_at} />, took{' '}
              {durationText(Date.parse(completed_at) - Date.parse(mission.created_at))}
            </>
          )}
        </span>
      </div>
    </li>
  )
}

import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Mission } from '../api/answers.ts'
import { href } from '../router/location.ts'
import { durationText } from './duration.ts'
import { shortId } from './short-id.ts'
import { statusOf } from './status.ts'
import { StatusIcon } from './status-icon.tsx'
import { Clock, Since } from './time.tsx'
import { useFlash } from './use-flash.ts'
import './mission-row.css'

/** One mission as a dense line. */
export function MissionRow({
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

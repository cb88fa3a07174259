import type { ComponentChildren } from 'preact'
import { now } from '../../live/now.ts'
import { durationText } from '../../parts/duration.ts'
import { statusOf } from '../../parts/status.ts'
import { StatusBadge } from '../../parts/status-icon.tsx'
import { href } from '../../router/location.ts'
import type { Timeline } from './timeline/source.ts'

const number = new Intl.NumberFormat('en')

/** What the mission is for, and the few numbers that say how it stands. */
export function MissionHeader({ mission }: { readonly mission: Timeline }) {
  const { totals } = mission
  return (
    <header class="mission-header">
      <div class="mission-titles">
        <h1>
          {mission.name} <StatusBadge status={statusOf(mission.status)} />
        </h1>
        {mission.objective !== null && mission.objective !== mission.name && (
          <p class="muted mission-objective">{mission.objective}</p>
        )}
        {mission.scope !== null && (
          <p class="muted">
            Scope: <code>{mission.scope}</code>
          </p>
        )}
      </div>
      {mission.runs.length > 0 && (
        <p class="mission-runs">
          {mission.runs.map(({ run_id, process_id, status, current_state }) => (
            <span key={run_id}>
              Gate{' '}
              <a class="link" href={href(`/runs/${run_id}`)}>
                {process_id}
              </a>{' '}
              <StatusBadge status={statusOf(status)} /> <span class="muted">{current_state}</span>{' '}
            </span>
          ))}
        </p>
      )}
      {mission.completed_despite.map((loss) => (
        <p key={loss} class="deleted">
          Completed although {loss}.
        </p>
      ))}
      <dl class="figures">
        <Figure name="Tasks">
          {totals.done} / {totals.tasks}
        </Figure>
        <Figure name="Elapsed">
          <Elapsed mission={mission} />
        </Figure>
        <Figure name="Verified diff">
          <span class="added">+{number.format(totals.added)}</span>{' '}
          <span class="deleted">−{number.format(totals.deleted)}</span>
        </Figure>
        <Figure name="Out of scope">
          <span class={totals.out_of_scope > 0 ? 'deleted' : ''}>
            {totals.out_of_scope === 1 ? '1 file' : `${number.format(totals.out_of_scope)} files`}
          </span>
        </Figure>
      </dl>
    </header>
  )
}

function Figure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Counts on while the mission goes on. */
function Elapsed({ mission }: { readonly mission: Timeline }) {
  const begun = Date.parse(mission.created_at)
  const end = mission.completed_at === null ? now.value : Date.parse(mission.completed_at)
  return <>{durationText(end - begun)}</>
}

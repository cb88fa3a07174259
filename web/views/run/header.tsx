import type { RunPage } from '../../api/answers.ts'
import { shortId } from '../../parts/short-id.ts'
import type { Status } from '../../parts/status.ts'
import { StatusBadge } from '../../parts/status-icon.tsx'
import { Clock, Since } from '../../parts/time.tsx'
import { href } from '../../router/location.ts'

/** Which process, about what, and where it stands. */
export function RunHeader({ page }: { readonly page: RunPage }) {
  const { run, mission, task, entered_at } = page
  return (
    <header class="run-head">
      <div>
        <h1>
          {run.process_name}{' '}
          <span class="run-id mono muted">
            v{run.process_version} · {shortId(run.run_id)}
          </span>
        </h1>
        <p class="muted">
          {task ? (
            <a class="link" href={href(`/tasks/${task.id}`)}>
              {task.name}
            </a>
          ) : null}
          {task && mission ? ' in ' : null}
          {mission ? (
            <a class="link" href={href(`/missions/${mission.id}`)}>
              {mission.name}
            </a>
          ) : null}
          {task || mission ? null : (page.description ?? 'A run on its own.')}
        </p>
      </div>
      <dl class="facts">
        <div>
          <dt>State</dt>
          <dd>
            <StatusBadge status={standingOf(page)} word={run.current_state} />
          </dd>
        </div>
        <div>
          <dt>Revision</dt>
          <dd>{run.revision}</dd>
        </div>
        {run.ended_at === null ? (
          <div>
            <dt>In state</dt>
            <dd>
              <Since at={entered_at} />
            </dd>
          </div>
        ) : (
          <div>
            <dt>{endings[run.status]}</dt>
            <dd>
              <Clock at={run.ended_at} />
            </dd>
          </div>
        )}
      </dl>
    </header>
  )
}

const endings: Readonly<Record<RunPage['run']['status'], string>> = {
  active: 'Active',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

function standingOf({ run, waits_for }: RunPage): Status {
  if (run.status === 'active') return waits_for.length > 0 ? 'review' : 'active'
  return ({ succeeded: 'done', failed: 'failed', cancelled: 'dropped' } as const)[run.status]
}

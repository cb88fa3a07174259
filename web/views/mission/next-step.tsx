import type { Timeline } from '../../api/entities.ts'
import { denialReason } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { StatusIcon } from '../../parts/status.tsx'
import { eventWords, Prose } from '../../parts/text.tsx'
import { href } from '../../router/location.ts'
import { openOperation } from '../../shell/overlays.tsx'

/** What follows once all tasks are done: an event of the run, or the end of the mission. */
export function NextStep({ mission }: { readonly mission: Timeline }) {
  const { id, name, completed_at, runs, totals } = mission
  const isDone = totals.tasks > 0 && totals.done === totals.tasks && totals.done_waiting === 0
  if (completed_at !== null || !isDone) return null
  const run = runs.find(({ status }) => status === 'active')
  if (run) return <NextEvents runId={run.run_id} />
  const denial = denialReason('complete_mission')
  const ended = runs[0]
  return (
    <p class="mission-next">
      {ended ? `${ended.process_name} ended in “${ended.current_state}”. ` : 'All tasks are done. '}
      <button
        type="button"
        class="button"
        disabled={denial !== null}
        title={denial ?? ''}
        onClick={() =>
          openOperation({
            name: 'complete_mission',
            about: name,
            given: { mission_id: id, status: ended?.status === 'failed' ? 'failed' : 'completed' },
            fields: { summary: '' },
          })
        }
      >
        Complete the mission
      </button>
    </p>
  )
}

/** The next event of the run, or what it waits for. */
function NextEvents({ runId }: { readonly runId: string }) {
  const { answer } = useQuery('show', { id: runId })
  const page = answer.value
  if (page?.kind !== 'run' || page.waits_for.length > 0) return null
  const [next] = page.transitions.filter(({ escape: isEscape }) => !isEscape)
  if (!next) return null
  const missing = next.checks.find((check) => !check.satisfied)
  const isReady = next.checks.every((check) => check.satisfied || check.measured_by_event)
  return (
    <p class="mission-run mission-next">
      <StatusIcon status={isReady ? 'ready' : 'planned'} named={false} />
      <span>
        Next step:{' '}
        <a class="link" href={href(`/runs/${runId}`)}>
          {eventWords(next.event)}
        </a>{' '}
        <span class="muted">
          {missing ? <Prose text={`Not yet: ${missing.reason}.`} /> : 'Nothing is missing.'} Sent by{' '}
          {next.allowed_roles.includes('*') ? 'anyone' : next.allowed_roles.join(' or ')}.
        </span>
      </span>
    </p>
  )
}

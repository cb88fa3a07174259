import { formatCount } from '../../../src/kernel/text.ts'
import type { Timeline } from '../../api/entities.ts'
import { isPermitted } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { eventWords } from '../../parts/event-words.ts'
import { StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { href } from '../../router/location.ts'
import { OperationButton } from '../../shell/operation-button.tsx'

/** The number of attempts and marks: all of nearly every mission. */
const limit = 10_000

export function useMission(id: string) {
  return useQuery('mission_timeline', { id, limit })
}

/** What follows once all tasks are done: an event of the run, or the end of the mission. */
export function NextStep({ mission }: { readonly mission: Timeline }) {
  const { completed_at, runs } = mission
  if (completed_at !== null || !isDone(mission)) return null
  const run = runs.find(({ status }) => status === 'active')
  if (run) return <NextEvents runId={run.run_id} processName={run.process_name} />
  const ended = runs[0]
  return (
    <p class="mission-next">
      {ended ? `${ended.process_name} ended in “${ended.current_state}”. ` : 'All tasks are done. '}
      <CompleteButton mission={mission} />
    </p>
  )
}

/** After the end of a run: its mission stays open until someone completes it. */
export function OpenMission({ id }: { readonly id: string }) {
  const mission = useMission(id).answer.value
  if (mission === null || mission.completed_at !== null) return null
  return (
    <p class="run-end">
      The mission{' '}
      <a class="link" href={href(`/missions/${id}`)}>
        {mission.name}
      </a>{' '}
      is still open. {isDone(mission) ? <CompleteButton mission={mission} /> : null}
    </p>
  )
}

/** Ends a mission that no process ends, before all of its tasks are done. */
export function EndEarly({ mission }: { readonly mission: Timeline }) {
  const { completed_at, runs } = mission
  const isGated = runs.some(({ status }) => status === 'active')
  return completed_at !== null || isGated || isDone(mission) ? null : <CompleteButton mission={mission} />
}

function isDone({ totals }: Timeline): boolean {
  return totals.tasks > 0 && totals.done === totals.tasks && totals.done_waiting === 0
}

function CompleteButton({ mission }: { readonly mission: Timeline }) {
  const { id, name, runs, totals } = mission
  const title = 'Complete the mission'
  const status = runs[0]?.status === 'failed' ? 'failed' : 'completed'
  const open = [
    totals.done < totals.tasks
      ? `Not done: ${totals.tasks - totals.done} of ${formatCount(totals.tasks, 'task')}.`
      : '',
    totals.done_waiting > 0 ? `Needs you: ${formatCount(totals.done_waiting, 'done task')}.` : '',
  ].filter((text) => text !== '')
  const request = isDone(mission)
    ? { about: name, title, given: { mission_id: id, status }, fields: { summary: '' } }
    : {
        about: name,
        title,
        note: open.length === 0 ? 'It has no task.' : open.join(' '),
        given: { mission_id: id },
        fields: { status: '', summary: '' },
      }
  return (
    <OperationButton operation="complete_mission" request={request}>
      {title}
    </OperationButton>
  )
}

interface MissionStepProps {
  readonly runId: string
  readonly processName: string
}

/** The next event of the run, or what it waits for. */
function NextEvents({ runId, processName }: MissionStepProps) {
  const { answer } = useQuery('show', { id: runId })
  const page = answer.value
  if (page?.kind !== 'run' || page.waits_for.length > 0) return null
  const [next] = page.transitions.filter(({ escape: isEscape }) => !isEscape)
  if (!next) return null
  const missing = next.checks.find((check) => !check.satisfied)
  const isReady = next.checks.every((check) => check.satisfied || check.measured_by_event)
  const isMine = isPermitted('decide') && page.choices.some(({ event }) => event === next.event)
  const roles = next.allowed_roles.includes('*') ? 'anyone' : next.allowed_roles.join(' or ')
  return (
    <p class="mission-run mission-next">
      <StatusIcon status={isReady ? 'ready' : 'planned'} named={false} />
      <span>
        Next step of {processName}:{' '}
        <a class={!missing && isMine ? 'button' : 'link'} href={href(`/runs/${runId}`)}>
          {eventWords(next.event)}
        </a>{' '}
        <span class="muted">
          {missing ? (
            <Prose
              text={`${isReady ? 'At the last measurement' : 'Not yet'}: ${missing.reason}. ${missing.fix}`}
            />
          ) : (
            'Nothing is missing.'
          )}{' '}
          {!isReady || !isMine ? `Sent by ${roles}.` : missing ? '' : 'You can send it.'}
        </span>
      </span>
    </p>
  )
}

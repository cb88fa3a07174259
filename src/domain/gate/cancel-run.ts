import type { Happening } from '../fact.ts'
import type { Setting } from '../id.ts'
import type { Hold } from '../track/records.ts'
import { endQuestions } from './run-holds.ts'
import type { RunEvent, RunRecord } from './run-record.ts'

/** Ends a run where it stands. */
export function cancelRun(
  run: RunRecord,
  { holds, reason, by }: { readonly holds: readonly Hold[]; readonly reason: string; readonly by: string },
  setting: Setting,
): { readonly happenings: readonly Happening[]; readonly revision: number } {
  const event = movedByHand(run, { kind: 'cancellation', event: reason, to: run.state, by }, setting)
  return {
    revision: event.revision,
    happenings: [
      { kind: 'run.cancelled', runId: run.id, missionId: run.missionId, taskId: run.taskId, event },
      ...endQuestions(holds, `The run was cancelled: ${reason}`),
    ],
  }
}

/** The entry in a run's history for what no event of its process did. */
export function movedByHand(
  run: RunRecord,
  about: Pick<RunEvent, 'kind' | 'event' | 'to' | 'by' | 'author'>,
  setting: Setting,
): RunEvent {
  return {
    id: setting.ids.next('runEvent'),
    runId: run.id,
    revision: run.revision + 1,
    kind: about.kind,
    event: about.event,
    payload: {},
    from: run.state,
    to: about.to,
    stateChanged: about.to !== run.state,
    artifacts: [],
    unsatisfied: [],
    role: null,
    by: about.by,
    ...(about.author !== undefined && { author: about.author }),
    at: setting.at,
  }
}

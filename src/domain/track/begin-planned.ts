import type { Happening } from '../fact.ts'
import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import { assertFree, assertToken } from '../plan/claim-task.ts'
import type { PlannedTask } from '../plan/plan.ts'
import type { TaskRequest } from './task-request.ts'

/** Whether a planned task may be begun by the caller: nobody else holds it, and what it waits for is done or forced. */
export function beginPlanned(
  { actor, agentName, claimToken, force }: Pick<TaskRequest, 'actor' | 'agentName' | 'claimToken' | 'force'>,
  planned: PlannedTask | null,
  setting: Setting,
): { readonly happenings: readonly Happening[]; readonly notes: readonly string[] } {
  if (planned === null) return { happenings: [], notes: [] }
  const { task, dependsOn, blocked } = planned
  assertToken(planned, claimToken, setting.at)
  // The token names its holder, whatever the connection calls itself now; a claim that an attempt holds was judged with it.
  const isRunning = planned.claim?.expiresAt !== null
  if (claimToken === null && isRunning) assertFree(planned, { actor, agentName }, setting.at)
  if (!blocked) return { happenings: [], notes: [] }
  if (!force) {
    throw new Failure(
      'REFUSED',
      `Task ${task.id} "${task.name}" waits for tasks that are not done: ${dependsOn.slice(0, 5).join(', ')}.`,
      {
        hint: 'Take one that is ready with taskman_task_next, or pass force: true: the record will say so.',
      },
    )
  }
  return {
    happenings: [{ kind: 'task.forced', taskId: task.id, open: dependsOn }],
    notes: ['The task was begun although tasks that it depends on are not done.'],
  }
}

import type { Happening } from '../fact.ts'
import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import { assertFree, assertToken } from '../plan/claim-task.ts'
import { type Dependency, isWaitedFor } from './task-history.ts'
import type { TaskRequest, TaskSituation } from './task-request.ts'

/** Whether a planned task may be begun by the caller: nobody else holds it, and what it waits for is done or forced. */
export function beginPlanned(
  { actor, agentName, claimToken, force }: Pick<TaskRequest, 'actor' | 'agentName' | 'claimToken' | 'force'>,
  { planned, dependencies, tokenOf }: Pick<TaskSituation, 'planned' | 'dependencies' | 'tokenOf'>,
  setting: Setting,
): { readonly happenings: readonly Happening[]; readonly notes: readonly string[] } {
  if (planned === null) return { happenings: [], notes: [] }
  const { task, dependsOn, blocked } = planned
  const open = dependencies.filter(isWaitedFor)
  assertToken(planned, { token: claimToken, madeFor: tokenOf, claimant: { actor, agentName } }, setting.at)
  // The token names its holder, whatever the connection calls itself now; a claim that an attempt holds was judged with it.
  const isRunning = planned.claim?.expiresAt !== null
  if (claimToken === null && isRunning) assertFree(planned, { actor, agentName }, setting.at)
  if (!blocked) return { happenings: [], notes: [] }
  if (!force) {
    const unsettled = open.some((dependency) => dependency.unsettled) ? ' or not settled' : ''
    throw new Failure(
      'REFUSED',
      `Task ${task.id} "${task.name}" waits for tasks that are not done${unsettled}: ${open.slice(0, 5).map(standing).join(', ')}.`,
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

/** `t-… "Draw", which is done and waits for a person (h-…)`. */
function standing({ task, unsettled, holds }: Dependency): string {
  const named = `${task.id} "${task.name}"`
  if (!unsettled) return `${named} (${task.status === 'to_do' ? 'to do' : 'in progress'})`
  const ids = holds.slice(0, 3).map(({ id }) => id)
  return `${named} (done, and waits for a person: ${ids.join(', ')})`
}

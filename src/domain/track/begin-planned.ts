import type { Happening } from '../fact.ts'
import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import { assertFree, assertToken, type Claimant, nameOf } from '../plan/claim-task.ts'
import type { PlannedTask } from '../plan/plan.ts'
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
  const forOther = claimToken === null ? forSomebodyElse(planned, { actor, agentName }, force) : []
  if (claimToken === null && isRunning) assertFree(planned, { actor, agentName }, setting.at)
  if (!blocked) return { happenings: [], notes: forOther }
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
    notes: [...forOther, 'The task was begun although tasks that it depends on are not done.'],
  }
}

/** An assigned task is taken by its assignee, who may hold it already; by others only with force, and that is said. */
function forSomebodyElse(
  { task, claim }: PlannedTask,
  claimant: Claimant,
  force: boolean,
): readonly string[] {
  const { assignee } = task
  const name = nameOf(claimant)
  if (!assignee || assignee === name || claim?.agent === name) return []
  if (force) return [`The task is for ${assignee}; ${name} took it with force.`]
  throw new Failure('REFUSED', `Task ${task.id} "${task.name}" is for ${assignee}, and you are ${name}.`, {
    hint: `If you are ${assignee}, give that agent_name, or claim it with taskman_task_next { role: "${assignee}", claim: true }; force: true takes it all the same.`,
  })
}

/** `t-… "Draw", which is done and waits for a person (h-…)`. */
function standing({ task, unsettled, holds }: Dependency): string {
  const named = `${task.id} "${task.name}"`
  if (!unsettled) return `${named} (${task.status === 'to_do' ? 'to do' : 'in progress'})`
  const ids = holds.slice(0, 3).map(({ id }) => id)
  return `${named} (done, and waits for a person: ${ids.join(', ')})`
}

import { ownOrder } from '../rows/task-order.ts'
import { touchTask } from './claim-renewal.ts'
import type { Of, Projecting } from './projecting.ts'
import { moveTask } from './task-moved.ts'
import { taskBefore } from './task-state.ts'

export async function applyTaskEdited(
  projecting: Projecting,
  { taskId, changes }: Of<'task.edited'>,
): Promise<void> {
  const { db, projectId } = projecting
  const { name, goal, role, assignee, creator, milestoneId, phaseId, sortOrder } = changes
  const before = await taskBefore(projecting, taskId)
  const moves = phaseId !== undefined && phaseId !== before.phase_id
  if (moves) await moveTask(projecting, before, phaseId)
  // A milestone is of its phase: a task that moves without it leaves it behind.
  const milestone = moves && milestoneId === undefined ? null : milestoneId
  await touchTask(projecting, taskId)
  const changed = {
    ...(name !== undefined && { name }),
    ...(goal !== undefined && { goal }),
    ...(role !== undefined && { role }),
    ...(assignee !== undefined && { assignee }),
    ...(creator !== undefined && { creator }),
    ...(milestone !== undefined && { milestone_id: milestone }),
    ...(sortOrder !== undefined && { sort_order: sortOrder, order_own: ownOrder(sortOrder) }),
  }
  if (Object.keys(changed).length === 0) return
  await db
    .updateTable('task')
    .set(changed)
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .execute()
}

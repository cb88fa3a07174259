import { touchTask } from './claim-renewal.ts'
import { countDependency } from './open-dependencies.ts'
import type { Of, Projecting } from './projecting.ts'
import { lower, raisePrerequisites } from './task-height.ts'

export async function applyDependencyAdded(
  projecting: Projecting,
  { taskId, dependsOnId }: Of<'dependency.added'>,
): Promise<void> {
  const { db, projectId, seq } = projecting
  await db
    .insertInto('task_dependency')
    .values({ project_id: projectId, task_id: taskId, depends_on_id: dependsOnId, seq })
    .execute()
  await countDependency(projecting, { taskId, dependsOnId }, 1)
  await touchTask(projecting, taskId)
  await raisePrerequisites(projecting, taskId)
}

export async function applyDependencyRemoved(
  projecting: Projecting,
  { taskId, dependsOnId }: Of<'dependency.removed'>,
): Promise<void> {
  const { db, projectId } = projecting
  const removed = await db
    .deleteFrom('task_dependency')
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .where('depends_on_id', '=', dependsOnId)
    .executeTakeFirst()
  if (Number(removed.numDeletedRows) === 0) return
  await countDependency(projecting, { taskId, dependsOnId }, -1)
  await touchTask(projecting, taskId)
  await lower(projecting, [dependsOnId])
}

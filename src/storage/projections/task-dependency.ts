import { sql } from 'kysely'
import { touchTask } from './claim-renewal.ts'
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
  await countOne(projecting, { taskId, dependsOnId, by: 1 })
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
  await countOne(projecting, { taskId, dependsOnId, by: -1 })
  await lower(projecting, [dependsOnId])
}

async function countOne(
  projecting: Projecting,
  { taskId, dependsOnId, by }: { readonly taskId: string; readonly dependsOnId: string; readonly by: 1 | -1 },
): Promise<void> {
  const { db, projectId } = projecting
  await sql`update task set open_dependencies = open_dependencies + (
      select case when dependency.status = 'done' then 0 else ${by} end from task as dependency
        where dependency.project_id = task.project_id and dependency.id = ${dependsOnId})
    where project_id = ${projectId} and id = ${taskId}`.execute(db)
  await touchTask(projecting, taskId)
}

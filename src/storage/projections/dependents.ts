import { sql } from 'kysely'
import type { Projecting } from './projecting.ts'
import { lowerPrerequisites, restoreHeight } from './task-height.ts'

/** What depends on a task that is done now has one thing less to wait for. */
export async function settleDone(projecting: Projecting, taskId: string): Promise<void> {
  await countDependents(projecting, taskId, -1)
  await lowerPrerequisites(projecting, taskId)
}

/** What depends on a task that is not done after all waits for it again. */
export async function settleUndone(projecting: Projecting, taskId: string): Promise<void> {
  await countDependents(projecting, taskId, 1)
  await restoreHeight(projecting, taskId)
}

async function countDependents({ db, projectId }: Projecting, taskId: string, by: 1 | -1): Promise<void> {
  await sql`update task set open_dependencies = open_dependencies + ${by}
    where project_id = ${projectId} and id in (
      select task_id from task_dependency
        where project_id = ${projectId} and depends_on_id = ${taskId})`.execute(db)
}

import { sql } from 'kysely'
import type { Projecting } from './projecting.ts'

/** One task has one dependency more or less, unless it is done already. */
export async function countDependency(
  { db, projectId }: Projecting,
  edge: { readonly taskId: string; readonly dependsOnId: string },
  by: 1 | -1,
): Promise<void> {
  await sql`update task set ${changedBy(by)}
    where project_id = ${projectId} and id = ${edge.taskId} and exists (
      select 1 from task as dependency
        where dependency.project_id = task.project_id and dependency.id = ${edge.dependsOnId}
          and dependency.status <> 'done')`.execute(db)
}

/** A task is done, or not after all: everything that depends on it has one dependency less or more. */
export async function countDependents(
  { db, projectId }: Projecting,
  taskId: string,
  by: 1 | -1,
): Promise<void> {
  await sql`update task set ${changedBy(by)}
    where project_id = ${projectId} and id in (
      select task_id from task_dependency
        where project_id = ${projectId} and depends_on_id = ${taskId})`.execute(db)
}

function changedBy(by: 1 | -1) {
  return sql`open_dependencies = open_dependencies + ${by}, standing = case
    when status <> 'to_do' then status
    when open_dependencies + ${by} = 0 then 'ready'
    else 'blocked' end`
}

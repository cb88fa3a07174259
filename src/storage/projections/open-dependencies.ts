import { sql } from 'kysely'
import type { Projecting } from './projecting.ts'

/** One task has one dependency more or less, unless it is done and settled already. */
export async function countDependency(
  { db, projectId }: Projecting,
  edge: { readonly taskId: string; readonly dependsOnId: string },
  by: 1 | -1,
): Promise<void> {
  await sql`update task set ${changedBy(by)}
    where project_id = ${projectId} and id = ${edge.taskId} and exists (
      select 1 from task as dependency
        where dependency.project_id = task.project_id and dependency.id = ${edge.dependsOnId}
          and ${isOpen})`.execute(db)
}

/** A task is done and settled, or not after all: everything that depends on it has one dependency less or more. */
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

/** Counts the dependencies of every task again, after what holds them up has changed. */
export async function countEveryDependency({ db, projectId }: Projecting): Promise<void> {
  await sql`update task set open_dependencies = (
      select count(*) from task_dependency as edge
        join task as dependency
          on dependency.project_id = edge.project_id and dependency.id = edge.depends_on_id
        where edge.project_id = task.project_id and edge.task_id = task.id and ${isOpen})
    where project_id = ${projectId}`.execute(db)
  await sql`update task set ${changedBy(0)} where project_id = ${projectId}`.execute(db)
}

// As `isReleased` in rows/standing.ts says it.
const isOpen = sql`(dependency.status <> 'done'
  or (dependency.open_holds > 0 and coalesce(dependency.resolution, '') <> 'dropped'))`

function changedBy(by: 1 | 0 | -1) {
  return sql`open_dependencies = open_dependencies + ${by}, standing = case
    when status <> 'to_do' then status
    when open_dependencies + ${by} = 0 then 'ready'
    else 'blocked' end`
}

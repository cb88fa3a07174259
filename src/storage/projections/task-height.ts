import { sql } from 'kysely'
import type { Projecting } from './projecting.ts'

// Chains longer than this compare as equal, so that one more link at the end of a chain is a bounded amount of work.
const highest = 1000

/** A task is not done any more: its chain goes on through what waits for it, and so do the chains before it. */
export async function restoreHeight(projecting: Projecting, taskId: string): Promise<void> {
  const { db, projectId } = projecting
  await sql`update task set height = ${heightOf()} where project_id = ${projectId} and id = ${taskId}`.execute(
    db,
  )
  await raisePrerequisites(projecting, taskId)
}

// `cross join` reads the tables in the order written.

/** What a task waits for, at any distance, begins a chain at least one longer than the task's; rising ends where it is. */
export async function raisePrerequisites({ db, projectId }: Projecting, taskId: string): Promise<void> {
  await sql`
    with recursive reached (id, height) as (
      select edge.depends_on_id, task.height + 1 from task cross join task_dependency as edge
        where task.project_id = ${projectId} and task.id = ${taskId}
          and task.status <> 'done' and task.height < ${highest}
          and edge.project_id = ${projectId} and edge.task_id = task.id
      union
      select edge.depends_on_id, reached.height + 1
        from reached cross join task cross join task_dependency as edge
        where task.project_id = ${projectId} and task.id = reached.id
          and task.status <> 'done' and task.height < reached.height and reached.height < ${highest}
          and edge.project_id = ${projectId} and edge.task_id = task.id
    )
    update task set height = raised.height
      from (select ${projectId} as project_id, id, max(height) as height from reached group by id) as raised
      where task.project_id = raised.project_id and task.id = raised.id
        and task.status <> 'done' and task.height < raised.height`.execute(db)
}

/** What a task waits for no longer begins a chain through it. */
export async function lowerPrerequisites(projecting: Projecting, taskId: string): Promise<void> {
  await lower(projecting, await prerequisites(projecting, [taskId]))
}

/** Brings tasks down to what still waits for them, then what they wait for, as far as anything changes. */
export async function lower(projecting: Projecting, taskIds: readonly string[]): Promise<void> {
  const { db, projectId } = projecting
  let changed = taskIds
  while (changed.length > 0) {
    const { rows } = await sql<{ id: string }>`
      update task set height = ${heightOf()}
        where project_id = ${projectId} and id in (${sql.join(changed)}) and height > 1
          and not exists (
            select 1 from task_dependency as edge
              join task as waiting on waiting.project_id = edge.project_id and waiting.id = edge.task_id
              where edge.project_id = task.project_id and edge.depends_on_id = task.id
                and waiting.height >= task.height - 1)
        returning id`.execute(db)
    changed = await prerequisites(
      projecting,
      rows.map(({ id }) => id),
    )
  }
}

function heightOf() {
  return sql<number>`(
    select 1 + coalesce(max(case when waiting.height < ${highest} then waiting.height else ${highest - 1} end), 0)
      from task_dependency as edge
      join task as waiting on waiting.project_id = edge.project_id and waiting.id = edge.task_id
      where edge.project_id = task.project_id and edge.depends_on_id = task.id)`
}

async function prerequisites(
  { db, projectId }: Projecting,
  taskIds: readonly string[],
): Promise<readonly string[]> {
  if (taskIds.length === 0) return []
  const rows = await db
    .selectFrom('task_dependency')
    .select('depends_on_id')
    .distinct()
    .where('project_id', '=', projectId)
    .where('task_id', 'in', [...taskIds])
    .execute()
  return rows.map(({ depends_on_id }) => depends_on_id)
}

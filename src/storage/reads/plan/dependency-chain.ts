import { sql } from 'kysely'
import type { TaskId } from '../../../domain/id.ts'
import type { ReadScope } from '../scope.ts'

const mostEdges = 200_000

// `cross join` reads the tables in the order written.

/** The shortest chain. Usually there is none, and little waits for a task: it is looked for from the end. */
export async function dependencyChain(
  scope: ReadScope,
  from: TaskId,
  to: TaskId,
): Promise<readonly TaskId[] | null> {
  if (from === to) return [from]
  if (!(await waitsFor(scope, from, to))) return null
  const cameFrom = new Map<TaskId, TaskId>()
  for (const { id, dependsOn } of await edgesTo(scope, to)) if (!cameFrom.has(id)) cameFrom.set(id, dependsOn)
  const chain = [from]
  for (let id = cameFrom.get(from); id !== undefined && id !== to; id = cameFrom.get(id)) chain.push(id)
  return [...chain, to]
}

async function waitsFor({ db, projectId }: ReadScope, from: TaskId, to: TaskId): Promise<boolean> {
  const { rows } = await sql`
    with recursive waiting (id) as (
      select task_id from task_dependency where project_id = ${projectId} and depends_on_id = ${to}
      union
      select edge.task_id from waiting cross join task_dependency as edge
        where edge.project_id = ${projectId} and edge.depends_on_id = waiting.id
    )
    select 1 from waiting where id = ${from} limit 1`.execute(db)
  return rows.length > 0
}

/** Every dependency on the way to a task, nearest first. */
async function edgesTo(
  { db, projectId }: ReadScope,
  to: TaskId,
): Promise<readonly { readonly id: TaskId; readonly dependsOn: TaskId }[]> {
  const { rows } = await sql<{ id: TaskId; dependsOn: TaskId }>`
    with recursive waiting (id, depends_on_id) as (
      select task_id, depends_on_id from task_dependency
        where project_id = ${projectId} and depends_on_id = ${to}
      union
      select edge.task_id, edge.depends_on_id from waiting cross join task_dependency as edge
        where edge.project_id = ${projectId} and edge.depends_on_id = waiting.id
    )
    select id, depends_on_id as "dependsOn" from waiting limit ${mostEdges}`.execute(db)
  return rows
}

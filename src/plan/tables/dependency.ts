import { type RawBuilder, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { TaskId } from '../../kernel/id.ts'
import { lateralLookup, prepareQuery, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import { touchTask } from './claim.ts'
import { countHomes, type TaskHome, updateHomeCounts } from './task-lists.ts'

export interface TaskDependencyTable {
  project_id: string
  task_id: string
  depends_on_id: string
  seq: number
}

export async function applyDependencyAdded(
  projecting: ProjectionContext,
  { taskId, dependsOnId }: ProjectEventOf<'dependency.added'>,
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
  projecting: ProjectionContext,
  { taskId, dependsOnId }: ProjectEventOf<'dependency.removed'>,
): Promise<void> {
  const { db, projectId } = projecting
  const removed = await db
    .deleteFrom('task_dependency')
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .where('depends_on_id', '=', dependsOnId)
    .returning('task_id')
    .executeTakeFirst()
  if (!removed) return
  await countDependency(projecting, { taskId, dependsOnId }, -1)
  await touchTask(projecting, taskId)
  await lowerHeights(projecting, [dependsOnId])
}

/** Adds or removes one dependency in a task's count, unless the dependency is done and settled. */
function countDependency(
  projecting: ProjectionContext,
  dependency: { readonly taskId: string; readonly dependsOnId: string },
  change: 1 | -1,
): Promise<void> {
  const waiting = sql`id = ${dependency.taskId} and exists (
    select 1 from task as dependency
      where dependency.project_id = task.project_id and dependency.id = ${dependency.dependsOnId}
        and ${isOpen})`
  return changeDependencies(projecting, waiting, change)
}

/** A task became done and settled, or not anymore: adjusts the counts of its dependents. */
export function countDependents(
  projecting: ProjectionContext,
  taskId: string,
  change: 1 | -1,
): Promise<void> {
  const waiting = sql`id in (
    select task_id from task_dependency
      where project_id = ${projecting.projectId} and depends_on_id = ${taskId})`
  return changeDependencies(projecting, waiting, change)
}

/** Changes the number of open dependencies of tasks. With the first or the last one, tasks to do change their count. */
async function changeDependencies(
  projecting: ProjectionContext,
  tasks: RawBuilder<unknown>,
  change: 1 | -1,
): Promise<void> {
  const { db, projectId } = projecting
  const { rows } = await sql<TaskHome & { readonly status: string; readonly open_dependencies: number }>`
    update task set ${dependencyCountChange(change)} where project_id = ${projectId} and ${tasks}
      returning mission_id, phase_id, readiness, resolution, status, open_dependencies`.execute(db)
  const boundary = change === 1 ? 1 : 0
  const changed = rows.filter((row) => row.status === 'to_do' && row.open_dependencies === boundary)
  const readiness = change === 1 ? 'ready' : 'blocked'
  await updateHomeCounts(
    projecting,
    changed.map((row) => [{ ...row, readiness }, row]),
  )
}

/** Recounts the open dependencies of every task, after the inbox gate changed. */
export async function countEveryDependency(projecting: ProjectionContext): Promise<void> {
  const { db, projectId } = projecting
  await sql`update task set open_dependencies = (
      select count(*) from task_dependency as machine
        join task as dependency
          on dependency.project_id = machine.project_id and dependency.id = machine.depends_on_id
        where machine.project_id = task.project_id and machine.task_id = task.id and ${isOpen})
    where project_id = ${projectId}`.execute(db)
  await sql`update task set ${dependencyCountChange(0)} where project_id = ${projectId}`.execute(db)
  await countHomes(projecting)
}

// The SQL form of `isReleased`.
const isOpen = sql`(dependency.status <> 'done'
  or (dependency.open_items > 0 and coalesce(dependency.resolution, '') <> 'dropped'))`

function dependencyCountChange(change: 1 | 0 | -1) {
  return sql`open_dependencies = open_dependencies + ${change}, readiness = case
    when status <> 'to_do' then status
    when open_dependencies + ${change} = 0 then 'ready'
    else 'blocked' end`
}

// Longer chains compare as equal, so that adding a link at the end costs a bounded amount of work.
const highest = 1000

/** A task is no longer done: its chain through its dependents exists again. */
export async function restoreHeight(projecting: ProjectionContext, taskId: string): Promise<void> {
  const { db, projectId, heightsLater } = projecting
  if (heightsLater) return
  await sql`update task set height = ${heightOf()} where project_id = ${projectId} and id = ${taskId}`.execute(
    db,
  )
  await raisePrerequisites(projecting, taskId)
}

/** A task's dependencies, direct or not, have a height of at least one more; stops where that already holds. */
async function raisePrerequisites(
  { db, projectId, heightsLater }: ProjectionContext,
  taskId: string,
): Promise<void> {
  if (heightsLater) return
  const waitsFor = sql`machine.project_id = ${projectId} and machine.task_id = task.id`
  await sql`
    with recursive reached (id, height) as (
      select machine.depends_on_id, task.height + 1 from task
        ${lateralLookup(db, { table: 'task_dependency', as: 'machine', on: waitsFor })}
        where task.project_id = ${projectId} and task.id = ${taskId}
          and task.status <> 'done' and task.height < ${highest}
      union
      select machine.depends_on_id, reached.height + 1 from reached
        ${lateralLookup(db, { table: 'task', as: 'task', on: sql`task.project_id = ${projectId} and task.id = reached.id` })}
        ${lateralLookup(db, { table: 'task_dependency', as: 'machine', on: waitsFor })}
        where task.status <> 'done' and task.height < reached.height and reached.height < ${highest}
    )
    update task set height = raised.height
      from (select ${projectId} as project_id, id, max(height) as height from reached group by id) as raised
      where task.project_id = raised.project_id and task.id = raised.id
        and task.status <> 'done' and task.height < raised.height`.execute(db)
}

/** A task's dependencies, and whether it has dependents. */
export interface TaskDependencies {
  readonly prerequisites: readonly string[]
  readonly hasDependents: boolean
}

const linkRows = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('task_dependency')
    .select('depends_on_id as other')
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .unionAll(
      db
        .selectFrom('project')
        .select(sql<string>`''`.as('other'))
        .where('id', '=', projectId)
        .where((where) =>
          where.exists(
            where
              .selectFrom('task_dependency as waiting')
              .select('waiting.task_id')
              .where('waiting.project_id', '=', projectId)
              .where('waiting.depends_on_id', '=', taskId),
          ),
        ),
    ),
)

export async function linksOf({ db, projectId }: ReadScope, taskId: string): Promise<TaskDependencies> {
  const others = (await linkRows(db, projectId, taskId)).map(({ other }) => other)
  return { prerequisites: others.filter((id) => id !== ''), hasDependents: others.includes('') }
}

/** A task's dependencies no longer have a chain through it. */
export function lowerPrerequisites(
  projecting: ProjectionContext,
  { prerequisites: ids }: TaskDependencies,
): Promise<void> {
  return lowerHeights(projecting, ids)
}

/** Lowers the heights of tasks to their remaining dependents, then of their dependencies, while anything changes. */
async function lowerHeights(projecting: ProjectionContext, taskIds: readonly string[]): Promise<void> {
  const { db, projectId, heightsLater } = projecting
  if (heightsLater) return
  let changed = taskIds
  while (changed.length > 0) {
    const { rows } = await sql<{ id: string }>`
      update task set height = ${heightOf()}
        where project_id = ${projectId} and id in (${sql.join(changed)}) and height > 1
          and not exists (
            select 1 from task_dependency as machine
              join task as waiting on waiting.project_id = machine.project_id and waiting.id = machine.task_id
              where machine.project_id = task.project_id and machine.depends_on_id = task.id
                and waiting.height >= task.height - 1)
        returning id`.execute(db)
    changed = await prerequisites(
      projecting,
      rows.map(({ id }) => id),
    )
  }
}

/** Computes the heights of all tasks, in memory those with links: this is faster than link by link. */
export async function makeHeights({ db, projectId }: ReadScope): Promise<void> {
  const alone = sql`(case when status = 'done' then 0 else 1 end)`
  await sql`update task set height = ${alone} where project_id = ${projectId} and height <> ${alone}
    and not exists (select 1 from task_dependency as link
      where link.project_id = task.project_id and link.depends_on_id = task.id)`.execute(db)
  const { rows: tasks } = await sql<HeightRow>`
    select id, status, height from task where project_id = ${projectId} and id in (
      select task_id from task_dependency where project_id = ${projectId}
      union all select depends_on_id from task_dependency where project_id = ${projectId})`.execute(db)
  const edges = await db
    .selectFrom('task_dependency')
    .select(['task_id', 'depends_on_id'])
    .where('project_id', '=', projectId)
    .execute()
  const heights = heightsOf(tasks, edges)
  const changed = [...tasks.keys()].filter((at) => heights[at] !== tasks[at]?.height)
  for (const places of splitIntoBatches(changed)) {
    const rows = places.map((at) => sql`(${tasks[at]?.id}, cast(${heights[at]} as bigint))`)
    await sql`update task set height = made.column2 from (values ${sql.join(rows)}) as made
      where task.project_id = ${projectId} and task.id = made.column1`.execute(db)
  }
}

interface HeightRow {
  readonly id: string
  readonly status: string
  readonly height: number
}

type DependencyLink = Pick<TaskDependencyTable, 'task_id' | 'depends_on_id'>

/** In the order of the tasks. From the tasks without dependents to their dependencies, and so on. */
function heightsOf(tasks: readonly HeightRow[], edges: readonly DependencyLink[]): Int32Array {
  const placeOf = new Map(tasks.map(({ id }, place) => [id, place]))
  const heights = Int32Array.from(tasks, ({ status }) => (status === 'done' ? 0 : 1))
  const waiting = new Int32Array(tasks.length)
  const links = new Map<number, number[]>()
  for (const { task_id, depends_on_id } of edges) {
    const [from = -1, on = -1] = [placeOf.get(task_id), placeOf.get(depends_on_id)]
    const awaited = links.get(from)
    if (awaited) awaited.push(on)
    else links.set(from, [on])
    waiting[on] = (waiting[on] ?? 0) + 1
  }
  const ready = [...tasks.keys()].filter((place) => waiting[place] === 0)
  for (const place of ready) {
    const above = Math.min((heights[place] ?? 0) + 1, highest)
    for (const on of links.get(place) ?? []) {
      if (tasks[on]?.status !== 'done') heights[on] = Math.max(heights[on] ?? 0, above)
      const left = (waiting[on] ?? 0) - 1
      waiting[on] = left
      if (left === 0) ready.push(on) // visited later in this loop
    }
  }
  return heights
}

function heightOf() {
  return sql<number>`(
    select 1 + coalesce(max(case when waiting.height < ${highest} then waiting.height else ${highest - 1} end), 0)
      from task_dependency as machine
      join task as waiting on waiting.project_id = machine.project_id and waiting.id = machine.task_id
      where machine.project_id = task.project_id and machine.depends_on_id = task.id)`
}

/** The dependencies of tasks. */
async function prerequisites(
  { db, projectId }: ProjectionContext,
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

const maxEdges = 200_000

/** The shortest chain. Usually there is none and a task has few dependents: so it searches from the end. */
export async function dependencyChain(
  scope: ReadScope,
  from: TaskId,
  to: TaskId,
): Promise<readonly TaskId[] | null> {
  if (from === to) return [from]
  if (!(await isWaitingFor(scope, from, to))) return null
  const cameFrom = new Map<TaskId, TaskId>()
  for (const { id, dependsOn } of await dependenciesLeadingTo(scope, to))
    if (!cameFrom.has(id)) cameFrom.set(id, dependsOn)
  const chain = [from]
  for (let id = cameFrom.get(from); id !== undefined && id !== to; id = cameFrom.get(id)) chain.push(id)
  return [...chain, to]
}

async function isWaitingFor(scope: ReadScope, from: TaskId, to: TaskId): Promise<boolean> {
  const { db, projectId } = scope
  const { rows } = await sql`
    with recursive waiting (id) as (
      select task_id from task_dependency where project_id = ${projectId} and depends_on_id = ${to}
      union
      select machine.task_id from waiting ${dependenciesOfWaiting(scope)}
    )
    select 1 from waiting where id = ${from} limit 1`.execute(db)
  return rows.length > 0
}

function dependenciesOfWaiting({ db, projectId }: ReadScope): RawBuilder<unknown> {
  const on = sql`machine.project_id = ${projectId} and machine.depends_on_id = waiting.id`
  return lateralLookup(db, { table: 'task_dependency', as: 'machine', on })
}

/** Every dependency on the path to a task, nearest first. */
async function dependenciesLeadingTo(
  scope: ReadScope,
  to: TaskId,
): Promise<readonly { readonly id: TaskId; readonly dependsOn: TaskId }[]> {
  const { db, projectId } = scope
  const { rows } = await sql<{ id: TaskId; dependsOn: TaskId }>`
    with recursive waiting (id, depends_on_id) as (
      select task_id, depends_on_id from task_dependency
        where project_id = ${projectId} and depends_on_id = ${to}
      union
      select machine.task_id, machine.depends_on_id from waiting ${dependenciesOfWaiting(scope)}
    )
    select id, depends_on_id as "dependsOn" from waiting limit ${maxEdges}`.execute(db)
  return rows
}

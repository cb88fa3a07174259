import { sql } from 'kysely'
import { prepareQuery } from '../../store/tables/query.ts'
import type { ProjectionContext } from '../../store/tables/tables.ts'
import type { Task } from '../../track/domain/task.ts'
import type { TaskTable } from './task.ts'

/** A task's home and the places where it was worked on. `status` is the task's. */
export interface TaskListTable {
  project_id: string
  kind: 'project' | 'mission' | 'phase' | 'agent'
  place: string
  task_seq: number
  task_id: string
  status: string
}

/** The number of tasks by status in a place. `home` and `home_phase` only count tasks that belong there, by `HomeState`. */
export interface TaskCountTable {
  project_id: string
  kind: TaskListTable['kind'] | 'home' | 'home_phase'
  place: string
  status: string
  tasks: number
}

export interface TaskListEntry {
  readonly id: string
  /** The seq of the log entry that planned it. */
  readonly seq: number
  readonly status: Task['status']
}

export type TaskListKeys = Readonly<Partial<Record<TaskListTable['kind'], string | null>>>

/** The places that list a task. */
export type TaskListRow = Pick<TaskListTable, 'kind' | 'place' | 'status'>

export const placesOfTask = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('task_place')
    .select(['kind', 'place', 'status'])
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId),
)

/** Lists a task under further places, once each, updates its status everywhere, and adjusts the counts. */
export async function placeTask(
  projecting: ProjectionContext,
  task: TaskListEntry,
  moved: {
    readonly listedRows: readonly TaskListRow[]
    readonly places: TaskListKeys
    readonly homes: HomeMove
  },
): Promise<void> {
  const { db, projectId } = projecting
  const { listedRows, places, homes } = moved
  const { status } = task
  if (listedRows.some((one) => one.status !== status)) {
    await db
      .updateTable('task_place')
      .set({ status })
      .where('project_id', '=', projectId)
      .where('task_id', '=', task.id)
      .execute()
  }
  const added = placeRows(projecting, task, places).filter(
    (row) => !listedRows.some(({ kind, place }) => kind === row.kind && place === row.place),
  )
  await insertPlaces(projecting, added)
  await addCounts(projecting, [
    ...listedRows.map(({ kind, place, status: before }) => ({ kind, place, status: before, tasks: -1 })),
    ...[...listedRows, ...added].map(({ kind, place }) => ({ kind, place, status, tasks: 1 })),
    ...homeMoves([homes]),
  ])
}

/** Lists and counts a new task. */
export async function placeNewTask(
  projecting: ProjectionContext,
  task: TaskListEntry,
  home: TaskHome,
): Promise<void> {
  const rows = placeRows(projecting, task, {
    project: projecting.projectId,
    mission: home.mission_id,
    phase: home.phase_id,
  })
  await insertPlaces(projecting, rows)
  const { status } = task
  await addCounts(projecting, [
    ...rows.map(({ kind, place }) => ({ kind, place, status, tasks: 1 })),
    ...homeCounts(home, 1),
  ])
}

/** Moves a task to its new home; its old home only keeps it if it was worked on there. */
export async function moveTaskHome(
  projecting: ProjectionContext,
  task: TaskListEntry,
  home: { readonly before: TaskListKeys; readonly now: TaskListKeys },
): Promise<void> {
  const { db, projectId } = projecting
  await subtractCounts(projecting, task.id)
  await sql`delete from task_place
    where project_id = ${projectId} and task_id = ${task.id} and (
      (kind = 'phase' and place = ${home.before.phase ?? null} and not exists (
        select 1 from attempt where attempt.project_id = task_place.project_id
          and attempt.task_id = task_place.task_id and attempt.phase_id = task_place.place))
      or (kind = 'mission' and place = ${home.before.mission ?? null} and not exists (
        select 1 from attempt where attempt.project_id = task_place.project_id
          and attempt.task_id = task_place.task_id and attempt.mission_id = task_place.place)))`.execute(db)
  await insertPlaces(projecting, placeRows(projecting, task, home.now))
  await count(projecting, task.id)
}

function placeRows(
  { projectId }: ProjectionContext,
  task: TaskListEntry,
  places: TaskListKeys,
): readonly TaskListTable[] {
  return (['project', 'mission', 'phase', 'agent'] as const).flatMap((kind): TaskListTable[] => {
    const place = places[kind] ?? null
    if (place === null) return []
    return [{ project_id: projectId, kind, place, task_seq: task.seq, task_id: task.id, status: task.status }]
  })
}

async function insertPlaces({ db }: ProjectionContext, rows: readonly TaskListTable[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .insertInto('task_place')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function subtractCounts({ db, projectId }: ProjectionContext, taskId: string): Promise<void> {
  await sql`update task_count set tasks = tasks - 1
    where (project_id, kind, place, status) in (
      select project_id, kind, place, status from task_place
      where project_id = ${projectId} and task_id = ${taskId})`.execute(db)
}

async function count({ db, projectId }: ProjectionContext, taskId: string): Promise<void> {
  await sql`insert into task_count (project_id, kind, place, status, tasks)
    select project_id, kind, place, status, 1 from task_place
    where project_id = ${projectId} and task_id = ${taskId}
    on conflict (project_id, kind, place, status) do update set tasks = task_count.tasks + 1`.execute(db)
}

export type TaskHome = Pick<TaskTable, 'mission_id' | 'phase_id' | 'readiness' | 'resolution'>
type HomeMove = readonly [before: TaskHome, after: TaskHome]
type TaskCountRow = Pick<TaskCountTable, 'kind' | 'place' | 'status' | 'tasks'>

/** The state by which a task is counted at home. */
export type HomeState = TaskTable['readiness'] | 'dropped'

/** Moves the home counts of tasks. */
export function updateHomeCounts(projecting: ProjectionContext, moves: readonly HomeMove[]): Promise<void> {
  return addCounts(projecting, homeMoves(moves))
}

function homeMoves(moves: readonly HomeMove[]): readonly TaskCountRow[] {
  return moves.flatMap(([before, after]) => [...homeCounts(before, -1), ...homeCounts(after, 1)])
}

/** Counts the tasks of every home again. */
export async function countHomes({ db, projectId }: ProjectionContext): Promise<void> {
  const state = sql`case when resolution = 'dropped' then 'dropped' else readiness end`
  await sql`delete from task_count where project_id = ${projectId} and kind in ('home', 'home_phase')`.execute(
    db,
  )
  await sql`insert into task_count (project_id, kind, place, status, tasks)
    select project_id, 'home', coalesce(mission_id, ${ownPlan}), ${state}, count(*) from task
      where project_id = ${projectId} group by 1, 3, 4
    union all
    select project_id, 'home_phase', phase_id, ${state}, count(*) from task
      where project_id = ${projectId} and phase_id is not null group by 1, 3, 4`.execute(db)
}

/** All count changes in one statement, without those that cancel out. */
async function addCounts(
  { db, projectId }: ProjectionContext,
  counts: readonly TaskCountRow[],
): Promise<void> {
  const sums = new Map<string, TaskCountRow>()
  for (const one of counts) {
    const key = JSON.stringify([one.kind, one.place, one.status])
    sums.set(key, { ...one, tasks: one.tasks + (sums.get(key)?.tasks ?? 0) })
  }
  const rows = [...sums.values()].filter(({ tasks }) => tasks !== 0)
  if (rows.length === 0) return
  await db
    .insertInto('task_count')
    .values(rows.map((row) => ({ project_id: projectId, ...row })))
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'kind', 'place', 'status'])
        .doUpdateSet({ tasks: sql<number>`task_count.tasks + excluded.tasks` }),
    )
    .execute()
}

function homeCounts(
  { mission_id, phase_id, readiness, resolution }: TaskHome,
  tasks: 1 | -1,
): readonly TaskCountRow[] {
  const status: HomeState = resolution === 'dropped' ? 'dropped' : readiness
  const plan: TaskCountRow = { kind: 'home', place: mission_id ?? ownPlan, status, tasks }
  return phase_id === null ? [plan] : [plan, { kind: 'home_phase', place: phase_id, status, tasks }]
}

/** The place that counts tasks of the project's own plan. */
export const ownPlan = ''

import { sql } from 'kysely'
import type { Task } from '../../domain/track/task.ts'
import type { TaskPlaceTable } from '../schema/task-tables.ts'
import type { Projecting } from './projecting.ts'

export interface PlacedTask {
  readonly id: string
  /** Of the fact that planned it. */
  readonly seq: number
  readonly status: Task['status']
}

export type Places = Readonly<Partial<Record<TaskPlaceTable['kind'], string | null>>>

/** Lists a task under further places, once each, with its status from now on in all of them. */
export async function placeTask(projecting: Projecting, task: PlacedTask, places: Places): Promise<void> {
  const { db, projectId } = projecting
  await uncount(projecting, task.id)
  await db
    .updateTable('task_place')
    .set({ status: task.status })
    .where('project_id', '=', projectId)
    .where('task_id', '=', task.id)
    .execute()
  await insertPlaces(projecting, task, places)
  await count(projecting, task.id)
}

/** Lists a task that was not listed anywhere. */
export async function placeNewTask(projecting: Projecting, task: PlacedTask, places: Places): Promise<void> {
  await insertPlaces(projecting, task, places)
  await count(projecting, task.id)
}

/** Lists a task where it is at home now; where it was before it stays only if it was worked on there. */
export async function moveHome(
  projecting: Projecting,
  task: PlacedTask,
  home: { readonly before: Places; readonly now: Places },
): Promise<void> {
  const { db, projectId } = projecting
  await uncount(projecting, task.id)
  await sql`delete from task_place
    where project_id = ${projectId} and task_id = ${task.id} and (
      (kind = 'phase' and place = ${home.before.phase ?? null} and not exists (
        select 1 from attempt where attempt.project_id = task_place.project_id
          and attempt.task_id = task_place.task_id and attempt.phase_id = task_place.place))
      or (kind = 'mission' and place = ${home.before.mission ?? null} and not exists (
        select 1 from attempt where attempt.project_id = task_place.project_id
          and attempt.task_id = task_place.task_id and attempt.mission_id = task_place.place)))`.execute(db)
  await insertPlaces(projecting, task, home.now)
  await count(projecting, task.id)
}

async function insertPlaces({ db, projectId }: Projecting, task: PlacedTask, places: Places): Promise<void> {
  const rows = (['project', 'mission', 'phase', 'agent'] as const).flatMap((kind): TaskPlaceTable[] => {
    const place = places[kind] ?? null
    if (place === null) return []
    return [{ project_id: projectId, kind, place, task_seq: task.seq, task_id: task.id, status: task.status }]
  })
  if (rows.length === 0) return
  await db
    .insertInto('task_place')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function uncount({ db, projectId }: Projecting, taskId: string): Promise<void> {
  await sql`update task_count set tasks = tasks - 1
    where (project_id, kind, place, status) in (
      select project_id, kind, place, status from task_place
      where project_id = ${projectId} and task_id = ${taskId})`.execute(db)
}

async function count({ db, projectId }: Projecting, taskId: string): Promise<void> {
  await sql`insert into task_count (project_id, kind, place, status, tasks)
    select project_id, kind, place, status, 1 from task_place
    where project_id = ${projectId} and task_id = ${taskId}
    on conflict (project_id, kind, place, status) do update set tasks = task_count.tasks + 1`.execute(db)
}

import type { Selectable } from 'kysely'
import type { Task } from '../../domain/track/task.ts'
import { isReleased, standingOf } from '../rows/standing.ts'
import type { TaskTable } from '../schema/task-tables.ts'
import { countDependents } from './open-dependencies.ts'
import type { Projecting } from './projecting.ts'
import { recountHome } from './task-count.ts'
import { lowerPrerequisites, restoreHeight } from './task-height.ts'
import { type Places, placeTask } from './task-place.ts'

export type TaskBefore = Selectable<TaskTable>

export async function taskBefore({ db, projectId }: Projecting, taskId: string): Promise<TaskBefore> {
  return db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow()
}

/** Changes a task, and what follows from its status: where it is listed and counted, and what waits for it. */
export async function changeTask(
  projecting: Projecting,
  before: TaskBefore,
  changed: Partial<TaskTable> & Pick<Task, 'status' | 'resolution'>,
  places: Places = {},
): Promise<void> {
  const { db, projectId, at } = projecting
  await db
    .updateTable('task')
    .set({
      ...changed,
      standing: standingOf(changed.status, before.open_dependencies),
      ...(changed.status === 'done' && { height: 0 }),
      updated_at: at,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', before.id)
    .execute()
  await placeTask(projecting, { id: before.id, seq: before.seq, status: changed.status }, places)
  if (changed.status === before.status) return
  await recountHome(projecting, before, { ...before, status: changed.status })
  await recountDependents(projecting, before, { ...before, ...changed })
  if (changed.status === 'done') await lowerPrerequisites(projecting, before.id)
  else if (before.status === 'done') await restoreHeight(projecting, before.id)
}

type Settling = Parameters<typeof isReleased>[0] & Pick<TaskTable, 'id'>

/** What depends on a task waits for it no longer, or again. */
export async function recountDependents(
  projecting: Projecting,
  before: Settling,
  after: Settling,
): Promise<void> {
  const [was, is] = [isReleased(before), isReleased(after)]
  if (was !== is) await countDependents(projecting, after.id, is ? -1 : 1)
}

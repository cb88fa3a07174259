import type { TaskId } from '../../domain/id.ts'
import type { Task } from '../../domain/track/task.ts'
import { taskRow } from '../rows/task-row.ts'
import type { TaskTable } from '../schema/task-tables.ts'
import type { Of, Projecting } from './projecting.ts'
import { placeTask } from './task-place.ts'

export async function applyTaskPlanned(projecting: Projecting, { task }: Of<'task.planned'>): Promise<void> {
  await projecting.db.insertInto('task').values(taskRow(projecting, task)).execute()
  await placeTask(
    projecting,
    { id: task.id, seq: projecting.seq, status: task.status },
    { project: projecting.projectId, mission: task.missionId, phase: task.phaseId },
  )
}

/** What follows for a task from the end of its attempt, in the task and wherever it is listed. */
export async function changeStatus(
  projecting: Projecting,
  taskId: TaskId,
  state: Pick<Task, 'status' | 'resolution'>,
): Promise<void> {
  const seq = await updateTask(projecting, taskId, state)
  await placeTask(projecting, { id: taskId, seq, status: state.status })
}

/** Answers the seq of the fact that planned the task. */
export async function updateTask(
  { db, projectId, at }: Projecting,
  taskId: TaskId,
  changed: Partial<TaskTable>,
): Promise<number> {
  const { seq } = await db
    .updateTable('task')
    .set({ ...changed, updated_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .returning('seq')
    .executeTakeFirstOrThrow()
  return seq
}

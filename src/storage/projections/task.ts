import type { TaskId } from '../../domain/id.ts'
import type { Task } from '../../domain/track/task.ts'
import { taskRow } from '../rows/task-row.ts'
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

type TaskState = Pick<Task, 'status' | 'resolution'>

/** The status that follows from what happened to the task's attempt, in the task and wherever it is listed. */
export async function changeStatus(
  { db, projectId, at }: Projecting,
  taskId: TaskId,
  state: TaskState,
): Promise<void> {
  await db
    .updateTable('task')
    .set({ status: state.status, resolution: state.resolution, updated_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .execute()
  await db
    .updateTable('task_place')
    .set({ status: state.status })
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .execute()
}

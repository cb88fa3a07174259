import type { Of, Projecting } from './projecting.ts'
import { changeStatus } from './task.ts'

/** Nobody works on it any more: the task is to do again, with its history. */
export async function applyAbandoned(
  projecting: Projecting,
  { attemptId, taskId }: Of<'attempt.abandoned'>,
): Promise<void> {
  await projecting.db
    .updateTable('attempt')
    .set({ status: 'abandoned', closed_at: projecting.at })
    .where('project_id', '=', projecting.projectId)
    .where('id', '=', attemptId)
    .execute()
  await changeStatus(projecting, taskId, { status: 'to_do', resolution: null })
}

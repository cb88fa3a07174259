import { unclaimed } from '../rows/claim-row.ts'
import type { Of, Projecting } from './projecting.ts'
import { changeTask, taskBefore } from './task-state.ts'

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
  const before = await taskBefore(projecting, taskId)
  await changeTask(projecting, before, { status: 'to_do', resolution: null, ...unclaimed })
}

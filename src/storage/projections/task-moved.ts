import type { Task } from '../../domain/track/task.ts'
import { placeByPhase } from '../rows/task-order.ts'
import type { Projecting } from './projecting.ts'
import { phaseOf } from './task.ts'
import { recountHome } from './task-count.ts'
import { moveHome } from './task-place.ts'
import type { TaskBefore } from './task-state.ts'

/** Gives a task another phase, and with it the phase's mission, its place in lists and in the counts. */
export async function moveTask(projecting: Projecting, before: TaskBefore, phaseId: string): Promise<void> {
  const { db, projectId, at } = projecting
  const phase = await phaseOf(projecting, phaseId)
  const home = { mission_id: phase.mission_id, phase_id: phase.id }
  await db
    .updateTable('task')
    .set({ ...home, ...placeByPhase(phase), updated_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', before.id)
    .execute()
  await recountHome(projecting, before, { ...home, status: before.status })
  const status = before.status as Task['status'] // as it was written
  await moveHome(
    projecting,
    { id: before.id, seq: before.seq, status },
    {
      before: { mission: before.mission_id, phase: before.phase_id },
      now: { mission: phase.mission_id, phase: phase.id },
    },
  )
}

import type { Selectable } from 'kysely'
import { placeByPhase } from '../rows/task-order.ts'
import { taskRow } from '../rows/task-row.ts'
import type { PhaseTable } from '../schema/mission-tables.ts'
import type { Of, Projecting } from './projecting.ts'
import { recountHome } from './task-count.ts'
import { placeNewTask } from './task-place.ts'

export async function applyTaskPlanned(projecting: Projecting, { task }: Of<'task.planned'>): Promise<void> {
  const phase = task.phaseId === null ? null : await phaseOf(projecting, task.phaseId)
  const row = taskRow(projecting, task, placeByPhase(phase))
  await projecting.db.insertInto('task').values(row).execute()
  await recountHome(projecting, null, {
    mission_id: task.missionId,
    phase_id: task.phaseId,
    status: task.status,
  })
  await placeNewTask(
    projecting,
    { id: task.id, seq: projecting.seq, status: task.status },
    { project: projecting.projectId, mission: task.missionId, phase: task.phaseId },
  )
}

export async function phaseOf(
  { db, projectId }: Projecting,
  phaseId: string,
): Promise<Selectable<PhaseTable>> {
  return db
    .selectFrom('phase')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', phaseId)
    .executeTakeFirstOrThrow()
}

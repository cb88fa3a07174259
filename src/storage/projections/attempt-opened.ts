import { sql } from 'kysely'
import type { Attempt } from '../../domain/track/task.ts'
import { attemptRow } from '../rows/attempt-row.ts'
import { heldBy } from './claim.ts'
import type { Of, Projecting } from './projecting.ts'
import { changeTask, taskBefore } from './task-state.ts'

/** Work begins: the task, its phase and its mission are in progress from now on. */
export async function applyOpened(projecting: Projecting, { attempt }: Of<'attempt.opened'>): Promise<void> {
  await beginMission(projecting, attempt)
  await beginPhase(projecting, attempt)
  await projecting.db.insertInto('attempt').values(attemptRow(projecting, attempt)).execute()
  const before = await taskBefore(projecting, attempt.taskId)
  await changeTask(
    projecting,
    before,
    {
      status: 'in_progress',
      resolution: null,
      last_attempt_id: attempt.id,
      ...heldBy(attempt, before, projecting.at),
    },
    { mission: attempt.missionId, phase: attempt.phaseId, agent: attempt.agentName },
  )
}

async function beginMission({ db, projectId }: Projecting, attempt: Attempt): Promise<void> {
  if (attempt.missionId === null) return
  const triedBefore = db
    .selectFrom('attempt')
    .select('id')
    .where('project_id', '=', projectId)
    .where('task_id', '=', attempt.taskId)
    .where('mission_id', '=', attempt.missionId)
  await db
    .updateTable('mission')
    .set((eb) => ({
      status: eb.case().when('status', '=', 'pending').then('in_progress').else(eb.ref('status')).end(),
      tasks_attempted: sql<number>`tasks_attempted + case when exists ${triedBefore} then 0 else 1 end`,
    }))
    .where('project_id', '=', projectId)
    .where('id', '=', attempt.missionId)
    .execute()
}

async function beginPhase({ db, projectId }: Projecting, attempt: Attempt): Promise<void> {
  if (attempt.phaseId === null) return
  await db
    .updateTable('phase')
    .set((eb) => ({
      status: 'in_progress',
      completed_at: null,
      first_start: eb.fn.coalesce('first_start', eb.val(attempt.openedAt)),
    }))
    .where('project_id', '=', projectId)
    .where('id', '=', attempt.phaseId)
    .execute()
}

import { sql } from 'kysely'
import type { MissionId, PhaseId } from '../../domain/id.ts'
import type { MissionTotals, PhaseTally } from '../../ports/reads/mission-reads.ts'
import type { ReadScope } from './scope.ts'

export async function missionTotals(
  { db, projectId }: ReadScope,
  missionId: MissionId,
): Promise<MissionTotals> {
  const row = await db
    .selectFrom('mission')
    .select(['tasks_attempted', 'files_changed', 'tokens_input', 'tokens_output'])
    .where('project_id', '=', projectId)
    .where('id', '=', missionId)
    .executeTakeFirst()
  return {
    tasksWithAttempt: row?.tasks_attempted ?? 0,
    distinctFilesChanged: row?.files_changed ?? 0,
    tokensInput: row?.tokens_input ?? 0,
    tokensOutput: row?.tokens_output ?? 0,
  }
}

/** In order of the phases' numbers. A task counts in its home phase and where it was worked on. */
export async function phaseTallies(
  { db, projectId }: ReadScope,
  missionId: MissionId,
): Promise<readonly PhaseTally[]> {
  const rows = await db
    .selectFrom('phase')
    .where('phase.project_id', '=', projectId)
    .where('phase.mission_id', '=', missionId)
    .select([
      'phase.id',
      'phase.first_start',
      'phase.last_end',
      sql<number>`(select coalesce(sum(tasks), 0) from task_count
        where task_count.project_id = phase.project_id and task_count.kind = 'phase'
          and task_count.place = phase.id)`.as('tasks'),
      sql<number>`(select count(*) from attempt
        where attempt.project_id = phase.project_id and attempt.phase_id = phase.id
          and attempt.status = 'open')`.as('open_attempts'),
    ])
    .orderBy('phase.number')
    .limit(1000)
    .execute()
  return rows.map((row) => ({
    phaseId: row.id as PhaseId, // a brand
    tasks: row.tasks,
    firstStart: row.first_start,
    lastEnd: row.last_end,
    openAttempts: row.open_attempts,
  }))
}

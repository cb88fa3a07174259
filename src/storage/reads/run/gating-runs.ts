import type { ExpressionBuilder } from 'kysely'
import type { RunRecord } from '../../../domain/gate/run-record.ts'
import type { MissionId } from '../../../domain/id.ts'
import { runOf } from '../../rows/run-row.ts'
import type { Tables } from '../../schema/tables.ts'
import type { ReadScope } from '../scope.ts'

/** Active runs of a mission, of the tasks at home there, and of those with an attempt there; oldest first. */
export async function gatingRuns(
  { db, projectId }: ReadScope,
  missionId: MissionId,
): Promise<readonly RunRecord[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('status', '=', 'active')
    .where((eb) => ofMission(eb, projectId, missionId))
    .orderBy('seq')
    .limit(100)
    .execute()
  return rows.map(runOf)
}

/**
 * Runs of the same that failed or were cancelled, and that no later run of the same definition and subject made good;
 * those of dropped tasks are not asked for any more. Oldest first.
 */
export async function lostRuns(
  { db, projectId }: ReadScope,
  missionId: MissionId,
): Promise<readonly RunRecord[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll('run')
    .where('run.project_id', '=', projectId)
    .where('run.status', 'in', ['failed', 'cancelled'])
    .where((eb) => ofMission(eb, projectId, missionId))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('run as later')
            .select('later.id')
            .where('later.project_id', '=', projectId)
            .where('later.status', '=', 'succeeded')
            .whereRef('later.process_hash', '=', 'run.process_hash')
            .whereRef('later.seq', '>', 'run.seq')
            .where((inner) =>
              inner.or([
                inner('later.mission_id', '=', inner.ref('run.mission_id')),
                inner('later.task_id', '=', inner.ref('run.task_id')),
              ]),
            ),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('task')
            .select('task.id')
            .where('task.project_id', '=', projectId)
            .whereRef('task.id', '=', 'run.task_id')
            .where('task.resolution', '=', 'dropped'),
        ),
      ),
    )
    .orderBy('run.seq')
    .limit(100)
    .execute()
  return rows.map(runOf)
}

function ofMission(eb: ExpressionBuilder<Tables, 'run'>, projectId: string, missionId: MissionId) {
  return eb.or([
    eb('run.mission_id', '=', missionId),
    eb(
      'run.task_id',
      'in',
      eb
        .selectFrom('task')
        .select('task.id')
        .where('task.project_id', '=', projectId)
        .where('task.mission_id', '=', missionId),
    ),
    eb(
      'run.task_id',
      'in',
      eb
        .selectFrom('attempt')
        .select('attempt.task_id')
        .where('attempt.project_id', '=', projectId)
        .where('attempt.mission_id', '=', missionId),
    ),
  ])
}

import type { RunRecord } from '../../../domain/gate/run-record.ts'
import type { MissionId } from '../../../domain/id.ts'
import { runOf } from '../../rows/run-row.ts'
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
    .where((eb) =>
      eb.or([
        eb('mission_id', '=', missionId),
        eb(
          'task_id',
          'in',
          eb
            .selectFrom('task')
            .select('task.id')
            .where('task.project_id', '=', projectId)
            .where('task.mission_id', '=', missionId),
        ),
        eb(
          'task_id',
          'in',
          eb
            .selectFrom('attempt')
            .select('attempt.task_id')
            .where('attempt.project_id', '=', projectId)
            .where('attempt.mission_id', '=', missionId),
        ),
      ]),
    )
    .orderBy('seq')
    .limit(100)
    .execute()
  return rows.map(runOf)
}

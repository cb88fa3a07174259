import { sql } from 'kysely'
import type { MissionId } from '../../domain/id.ts'
import type { Mission } from '../../domain/track/mission.ts'
import type { MissionListed, MissionNow } from '../../ports/reads/mission-reads.ts'
import { phaseOf } from '../rows/mission-row.ts'
import type { ReadScope } from './scope.ts'

const nothing: MissionNow = { openAttempts: 0, openBlockers: 0, doneTasks: 0, toDoTasks: 0 }

export async function missionNow(scope: ReadScope, missionId: MissionId): Promise<MissionNow> {
  return (await nows(scope, [missionId])).get(missionId) ?? nothing
}

/** Every mission with its phases and what it has now, in the order given: two queries whatever the number. */
export async function missionsListed(
  scope: ReadScope,
  missions: readonly Mission[],
): Promise<readonly MissionListed[]> {
  if (missions.length === 0) return []
  const ids = missions.map(({ id }) => id)
  const now = await nows(scope, ids)
  const rows = await scope.db
    .selectFrom('phase')
    .selectAll()
    .where('project_id', '=', scope.projectId)
    .where('mission_id', 'in', ids)
    .orderBy('mission_id')
    .orderBy('number')
    .limit(10_000)
    .execute()
  const phases = Map.groupBy(rows.map(phaseOf), ({ missionId }) => missionId)
  return missions.map((mission) => ({
    mission,
    now: now.get(mission.id) ?? nothing,
    phases: phases.get(mission.id) ?? [],
  }))
}

// A task in progress without an open attempt is claimed: nobody works on it yet, so it is to do.
async function nows(
  { db, projectId }: ReadScope,
  missionIds: readonly MissionId[],
): Promise<ReadonlyMap<string, MissionNow>> {
  const rows = await db
    .selectFrom('mission')
    .where('mission.project_id', '=', projectId)
    .where('mission.id', 'in', [...missionIds])
    .select([
      'mission.id',
      sql<number>`(select count(*) from attempt
        where attempt.project_id = mission.project_id and attempt.mission_id = mission.id
          and attempt.status = 'open')`.as('open_attempts'),
      sql<number>`(select count(*) from hold
        where hold.project_id = mission.project_id and hold.mission_id = mission.id
          and hold.status = 'open' and hold.kind in ('blocker', 'review'))`.as('open_blockers'),
      sql<number>`(select count(*) from task_place as place
        where place.project_id = mission.project_id and place.kind = 'mission' and place.place = mission.id
          and place.status = 'done')`.as('done_tasks'),
      sql<number>`(select count(*) from task_place as place
        where place.project_id = mission.project_id and place.kind = 'mission' and place.place = mission.id
          and place.status = 'to_do')`.as('to_do_tasks'),
      sql<number>`(select count(*) from task_place as place
        where place.project_id = mission.project_id and place.kind = 'mission' and place.place = mission.id
          and place.status = 'in_progress'
          and not exists (select 1 from attempt where attempt.project_id = place.project_id
            and attempt.task_id = place.task_id and attempt.status = 'open'))`.as('claimed_tasks'),
    ])
    .execute()
  return new Map(
    rows.map((row) => [
      row.id,
      {
        openAttempts: row.open_attempts,
        openBlockers: row.open_blockers,
        doneTasks: row.done_tasks,
        toDoTasks: row.to_do_tasks + row.claimed_tasks,
      },
    ]),
  )
}

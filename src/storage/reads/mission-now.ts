import { sql } from 'kysely'
import type { MissionId } from '../../domain/id.ts'
import type { Mission, StandingPhase } from '../../domain/track/mission.ts'
import type { Task } from '../../domain/track/task.ts'
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
  const phases = Map.groupBy(await standingPhases(scope, ids, 10_000), ({ missionId }) => missionId)
  return missions.map((mission) => ({
    mission,
    now: now.get(mission.id) ?? nothing,
    phases: phases.get(mission.id) ?? [],
  }))
}

/** The phases of missions, each in its order. */
export async function standingPhases(
  { db, projectId }: ReadScope,
  missionIds: readonly MissionId[],
  limit: number,
): Promise<readonly StandingPhase[]> {
  const rows = await db
    .selectFrom('phase')
    .selectAll()
    .select(
      sql<number>`exists (select 1 from task_count
        where task_count.project_id = phase.project_id and task_count.kind = 'phase'
          and task_count.place = phase.id and task_count.tasks > 0)`.as('has_work'),
    )
    .where('project_id', '=', projectId)
    .where('mission_id', 'in', [...missionIds])
    .orderBy('mission_id')
    .orderBy(sql`sort_order is null`)
    .orderBy('sort_order')
    .orderBy('number')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...phaseOf(row), hasWork: row.has_work === 1 }))
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
      tasksOf('done').as('done_tasks'),
      tasksOf('to_do').as('to_do_tasks'),
      tasksOf('in_progress').as('begun_tasks'),
      sql<number>`(select count(*) from attempt cross join task_place as place
        where attempt.project_id = mission.project_id and attempt.status = 'open'
          and place.project_id = attempt.project_id and place.task_id = attempt.task_id
          and place.kind = 'mission' and place.place = mission.id)`.as('running_tasks'),
    ])
    .execute()
  return new Map(
    rows.map((row) => [
      row.id,
      {
        openAttempts: row.open_attempts,
        openBlockers: row.open_blockers,
        doneTasks: row.done_tasks,
        toDoTasks: row.to_do_tasks + row.begun_tasks - row.running_tasks,
      },
    ]),
  )
}

function tasksOf(status: Task['status']) {
  return sql<number>`coalesce((select tasks from task_count
    where task_count.project_id = mission.project_id and task_count.kind = 'mission'
      and task_count.place = mission.id and task_count.status = ${status}), 0)`
}

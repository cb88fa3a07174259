import { sql } from 'kysely'
import { type Actor, displayName } from '../../kernel/actor.ts'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import { parseColumn } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import { acceptedOutOfScope } from '../../track/tables/accepted-scope.ts'
import { countsOf, scopeMatchesOf } from '../../track/tables/attempt.ts'
import { missionFiles } from '../../track/tables/mission-change.ts'
import type { ChangedLines, TimelineAttempt, TimelineReads, TimelineTask } from '../ports/timeline-reads.ts'

export function timelineReads(scope: ReadScope): TimelineReads {
  return {
    tasks: (missionId, limit) => tasksOf(scope, missionId, limit),
    attempts: (missionId, limit) => attemptsOf(scope, missionId, limit),
    lines: (missionId, limit) => linesOf(scope, missionId, limit),
    files: (missionId, part) => missionFiles(scope, missionId, part),
    async attemptsTotal(missionId) {
      const row = await scope.db
        .selectFrom('attempt')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('project_id', '=', scope.projectId)
        .where('mission_id', '=', missionId)
        .executeTakeFirst()
      return row?.total ?? 0
    },
  }
}

async function tasksOf(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  limit: number,
): Promise<readonly TimelineTask[]> {
  const rows = await db
    .selectFrom('task_place as place')
    .innerJoin('task', (join) =>
      join
        .onRef('task.project_id', '=', 'place.project_id')
        .onRef('task.id', '=', 'place.task_id')
        // Only the index that begins with the place has it: SQLite would read the whole other one.
        .onRef('task.seq', '=', 'place.task_seq'),
    )
    .leftJoin('attempt', (join) =>
      join
        .onRef('attempt.project_id', '=', 'task.project_id')
        .onRef('attempt.id', '=', 'task.last_attempt_id')
        .on('attempt.mission_id', '=', missionId),
    )
    .select(['task.id', 'task.name', 'task.mission_id', 'task.phase_id', 'task.parent_task_id'])
    .select(['task.readiness', 'task.resolution', 'attempt.phase_id as worked_in'])
    .where('place.project_id', '=', projectId)
    .where('place.kind', '=', 'mission')
    .where('place.place', '=', missionId)
    .orderBy('task.order_phase')
    .orderBy('task.order_phase_seq')
    .orderBy('task.order_own')
    .orderBy('task.seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id as TaskId, // a brand
    name: row.name,
    phaseId: ((row.mission_id === missionId ? row.phase_id : null) ?? row.worked_in) as PhaseId | null, // a brand
    parentTaskId: row.parent_task_id as TaskId | null, // a brand
    status: row.readiness,
    resolution: row.resolution as TimelineTask['resolution'], // as it was written
  }))
}

async function attemptsOf(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  limit: number,
): Promise<readonly TimelineAttempt[]> {
  const rows = await db
    .selectFrom('attempt')
    .leftJoin('attempt_end as end', (join) =>
      join.onRef('end.project_id', '=', 'attempt.project_id').onRef('end.attempt_id', '=', 'attempt.id'),
    )
    .selectAll('attempt')
    .select(['end.measurement', 'end.verdict'])
    .where('attempt.project_id', '=', projectId)
    .where('attempt.mission_id', '=', missionId)
    .orderBy('attempt.seq', 'desc')
    .limit(limit)
    .execute()
  return rows.reverse().map((row) => ({
    id: row.id as AttemptId, // a brand
    taskId: row.task_id as TaskId, // a brand
    number: row.number,
    agentName: displayName({ agentName: row.agent_name, actor: parseColumn<Actor>(row.actor) }),
    status: row.status as TimelineAttempt['status'], // as it was written
    openedAt: row.opened_at,
    closedAt: row.closed_at,
    counts: countsOf(row),
    scopeMatches: scopeMatchesOf(row),
    measurement: row.measurement as TimelineAttempt['measurement'], // as it was written
    verdict: row.verdict as TimelineAttempt['verdict'], // as it was written
  }))
}

async function linesOf(
  scope: ReadScope,
  missionId: MissionId,
  limit: number,
): Promise<ReadonlyMap<AttemptId, ChangedLines>> {
  const { db, projectId } = scope
  const { rows } = await sql<Omit<ChangedLines, 'outOfScopeAccepted'> & { readonly id: AttemptId }>`
    select attempt_id as id,
      sum(added_lines) as added,
      sum(deleted_lines) as deleted,
      count(case when scope = 'out' then 1 end) as "outOfScope"
    from attempt_change
    where project_id = ${projectId} and attempt_id in (
      select id from attempt where project_id = ${projectId} and mission_id = ${missionId}
      order by seq desc limit ${limit})
    group by attempt_id`.execute(db)
  const accepted = await acceptedOutOfScope(
    scope,
    rows.flatMap(({ id, outOfScope }) => (outOfScope > 0 ? [id] : [])),
  )
  return new Map(
    rows.map(({ id, ...lines }) => [id, { ...lines, outOfScopeAccepted: accepted.get(id) ?? 0 }]),
  )
}

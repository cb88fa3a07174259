import { sql } from 'kysely'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../domain/id.ts'
import type { MissionChange } from '../../domain/track/changes.ts'
import type {
  ChangedLines,
  MissionFile,
  MissionLines,
  MissionTree,
  TimelineAttempt,
  TimelineReads,
  TimelineTask,
} from '../../ports/reads.ts'
import { attemptOf, countsOf, scopeMatchesOf } from './attempt.ts'
import type { ReadScope } from './scope.ts'

export function timelineReads(scope: ReadScope): TimelineReads {
  return {
    tasks: (missionId, limit) => tasksOf(scope, missionId, limit),
    attempts: (missionId, limit) => attemptsOf(scope, missionId, limit),
    lines: (missionId, limit) => linesOf(scope, missionId, limit),
    files: (missionId, limit) => missionFiles(scope, missionId, limit),
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
      join.onRef('task.project_id', '=', 'place.project_id').onRef('task.id', '=', 'place.task_id'),
    )
    .leftJoin('attempt', (join) =>
      join
        .onRef('attempt.project_id', '=', 'task.project_id')
        .onRef('attempt.id', '=', 'task.last_attempt_id')
        .on('attempt.mission_id', '=', missionId),
    )
    .select(['task.id', 'task.name', 'task.mission_id', 'task.phase_id', 'task.parent_task_id'])
    .select(['task.standing', 'task.resolution', 'attempt.phase_id as worked_in'])
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
    standing: row.standing,
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
    .select(
      sql<TimelineAttempt['verification']>`json_extract(end.evidence, '$.verification')`.as('verification'),
    )
    .where('attempt.project_id', '=', projectId)
    .where('attempt.mission_id', '=', missionId)
    .orderBy('attempt.seq', 'desc')
    .limit(limit)
    .execute()
  return rows.reverse().map((row) => ({
    id: row.id as AttemptId, // a brand
    taskId: row.task_id as TaskId, // a brand
    number: row.number,
    agentName: row.agent_name,
    status: row.status as TimelineAttempt['status'], // as it was written
    openedAt: row.opened_at,
    closedAt: row.closed_at,
    counts: countsOf(row),
    scopeMatches: scopeMatchesOf(row),
    verification: row.verification,
  }))
}

async function linesOf(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  limit: number,
): Promise<ReadonlyMap<AttemptId, ChangedLines>> {
  const { rows } = await sql<ChangedLines & { readonly id: AttemptId }>`
    select attempt_id as id,
      coalesce(sum(json_extract(body, '$.addedLines')), 0) as added,
      coalesce(sum(json_extract(body, '$.deletedLines')), 0) as deleted,
      coalesce(sum(json_extract(body, '$.scope') = 'out'), 0) as "outOfScope"
    from attempt_change
    where project_id = ${projectId} and attempt_id in (
      select id from attempt where project_id = ${projectId} and mission_id = ${missionId}
      order by seq desc limit ${limit})
    group by attempt_id`.execute(db)
  return new Map(rows.map(({ id, ...lines }) => [id, lines]))
}

/** What a mission's paths came to, over all its work trees, with the last task that changed each. */
async function missionFiles(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  limit: number,
): Promise<readonly MissionFile[]> {
  // Beside a single max() SQLite answers the other columns of the row that has it: the last change.
  const { rows } = await sql<
    Omit<MissionFile, 'scope' | 'others'> & { readonly judged: 0 | 1 | null; readonly others: 0 | 1 }
  >`
    select state.path,
      case when count(distinct state.change) = 1 then max(state.change) else 'modified' end as change,
      coalesce(sum(state.added_lines), 0) as "addedLines",
      coalesce(sum(state.deleted_lines), 0) as "deletedLines",
      max(state.others) as others,
      max(work.task_id) as "taskId", coalesce(max(work.attempts), 0) as attempts, max(work.judged) as judged
    from mission_change as state
    left join (
      select changed.path, max(attempt.seq) as seq, attempt.task_id, count(distinct attempt.id) as attempts,
        sum(json_extract(changed.body, '$.scope') = 'out') > 0 as judged
      from attempt
      join attempt_change as changed
        on changed.project_id = attempt.project_id and changed.attempt_id = attempt.id
      where attempt.project_id = ${projectId} and attempt.mission_id = ${missionId}
      group by changed.path) as work on work.path = state.path
    where state.project_id = ${projectId} and state.mission_id = ${missionId} and state.change <> 'none'
    group by state.path
    order by coalesce(max(work.judged), 0) desc, state.path
    limit ${limit}`.execute(db)
  return rows.map(({ judged, others, ...file }) => ({
    ...file,
    scope: judged === null ? null : judged === 1 ? 'out' : 'in',
    others: others === 1,
  }))
}

/** Work that git brought in is other people's. */
export async function missionLines(
  { db, projectId }: ReadScope,
  missionId: MissionId,
): Promise<MissionLines> {
  const row = await db
    .selectFrom('mission_change')
    .select(({ fn }) => [
      fn.sum<number>('added_lines').as('added'),
      fn.sum<number>('deleted_lines').as('deleted'),
    ])
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('change', '<>', 'none')
    .where('origin', '<>', 'imported')
    .executeTakeFirst()
  return { added: Number(row?.added ?? 0), deleted: Number(row?.deleted ?? 0) }
}

export async function missionTree(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  top: string,
): Promise<MissionTree> {
  const inTree = db
    .selectFrom('attempt')
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('tree_top', '=', top)
  const first = await inTree.selectAll().orderBy('opened_at').orderBy('seq').limit(1).executeTakeFirst()
  const last = await inTree
    .selectAll()
    .where('end_snapshot', 'is not', null)
    .orderBy('closed_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const open = await inTree.select('opened_at').where('status', '=', 'open').limit(200).execute()
  const tasks = await inTree.select('task_id').distinct().execute()
  const rows = await db
    .selectFrom('mission_change')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('tree_top', '=', top)
    .execute()
  return {
    first: first ? attemptOf(first) : null,
    lastEnded: last ? attemptOf(last) : null,
    openSince: open.map(({ opened_at }) => opened_at),
    tasks: new Set(tasks.map(({ task_id }) => task_id as TaskId)), // a brand
    recorded: rows.map((row) => ({
      path: row.path,
      ...(row.from_path !== null && { from: row.from_path }),
      change: row.change as MissionChange['change'], // as it was written
      origin: row.origin as MissionChange['origin'], // as it was written
      addedLines: row.added_lines,
      deletedLines: row.deleted_lines,
      ...(row.others === 1 && { others: true }),
    })),
  }
}

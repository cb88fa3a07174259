import { sql } from 'kysely'
import type { MissionId, TaskId } from '../../domain/id.ts'
import type { MissionChange } from '../../domain/track/mission-changes.ts'
import type { MissionLines, MissionTree } from '../../ports/reads/mission-reads.ts'
import type { MissionFile } from '../../ports/reads/timeline-reads.ts'
import { attemptOf } from '../rows/attempt-row.ts'
import type { ReadScope } from './scope.ts'

/** What a mission's paths came to, over all its work trees, with the last task that changed each. */
export async function missionFiles(
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

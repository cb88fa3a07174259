import { sql } from 'kysely'
import type { MissionId } from '../../domain/id.ts'
import type { MissionFile } from '../../ports/reads/timeline-reads.ts'
import type { ReadScope } from './scope.ts'

// Beside a single max() SQLite answers the other columns of the row that has it: the last change.
export async function missionFiles(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  limit: number,
): Promise<readonly MissionFile[]> {
  const { rows } = await sql<Omit<MissionFile, 'scope'> & { readonly judged: 0 | 1 | null }>`
    select changed.path, max(attempt.seq) as seq, attempt.task_id as "taskId",
      json_extract(changed.body, '$.change') as change,
      coalesce(sum(json_extract(changed.body, '$.addedLines')), 0) as "addedLines",
      coalesce(sum(json_extract(changed.body, '$.deletedLines')), 0) as "deletedLines",
      count(distinct attempt.id) as attempts,
      sum(json_extract(changed.body, '$.scope') = 'out') > 0 as judged
    from attempt
    join attempt_change as changed
      on changed.project_id = attempt.project_id and changed.attempt_id = attempt.id
    where attempt.project_id = ${projectId} and attempt.mission_id = ${missionId}
    group by changed.path
    order by coalesce(judged, 0) desc, changed.path
    limit ${limit}`.execute(db)
  return rows.map(({ judged, path, change, taskId, addedLines, deletedLines, attempts }) => ({
    path,
    change,
    scope: judged === null ? null : judged === 1 ? 'out' : 'in',
    addedLines,
    deletedLines,
    attempts,
    taskId,
  }))
}

import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { displayName } from '../../kernel/actor.ts'
import { releaseLines } from '../../lines/tables/released-lines.ts'
import { touchTask } from '../../plan/tables/claim.ts'
import { parseColumn } from '../../store/tables/query.ts'
import type { ProjectionContext } from '../../store/tables/tables.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { type SettledWork, withoutSettled } from '../domain/settled-files.ts'
import { attemptOf, countColumns, insertChanges, lineColumns } from './attempt.ts'
import { takeOffMission } from './mission-change.ts'

/** Takes uncertain files and their lines off those of an ended attempt; they stay named as others'. */
export async function applyFilesSettled(
  projecting: ProjectionContext,
  { attemptId, taskId, paths, candidates, cause }: ProjectEventOf<'files.settled'>,
): Promise<void> {
  const { db, projectId } = projecting
  const rows = await db
    .selectFrom('attempt_change')
    .select('body')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .orderBy('position')
    .execute()
  const end = await db
    .selectFrom('attempt_end')
    .select('evidence')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .executeTakeFirstOrThrow()
  const attempt = await db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .executeTakeFirstOrThrow()
  const changes = rows.map(({ body }) => parseColumn<ReportedChange>(body))
  const { changes: kept, evidence: settled } = withoutSettled(
    { changes, evidence: parseColumn<SettledWork['evidence']>(end.evidence) },
    { paths, candidates, cause },
    displayName(attemptOf(attempt)),
  )
  const { matches, unexpected } = settled.scope
  // Anew, because positions are counted without gaps.
  await db
    .deleteFrom('attempt_change')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .execute()
  await insertChanges(projecting, attemptId, kept)
  await db
    .updateTable('attempt')
    .set({ ...countColumns(kept), scope_matches: matches === null ? null : Number(matches) })
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .execute()
  await db
    .updateTable('attempt_end')
    .set({ evidence: JSON.stringify(settled), out_of_scope: unexpected.length, ...lineColumns(kept) })
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .execute()
  await takeOffMission(
    projecting,
    attempt,
    changes.filter((change) => !kept.includes(change)),
  )
  await releaseLines(projecting, attemptId, paths)
  await touchTask(projecting, taskId)
}

import type { AttemptId } from '../../domain/id.ts'
import type { ReportedChange } from '../../domain/track/evidence.ts'
import type { AttemptEnd } from '../../ports/reads/task-reads.ts'
import { countsOf } from '../rows/attempt-row.ts'
import { parsed } from '../rows/json.ts'
import type { ReadScope } from './scope.ts'

const noChanges = { added: 0, modified: 0, deleted: 0, renamed: 0 }

/** Null for an attempt that is open or was abandoned: nothing was said and nothing measured. */
export async function attemptEnd(
  { db, projectId }: ReadScope,
  attemptId: AttemptId,
): Promise<AttemptEnd | null> {
  const row = await db
    .selectFrom('attempt_end as end')
    .innerJoin('attempt', (join) =>
      join.onRef('attempt.project_id', '=', 'end.project_id').onRef('attempt.id', '=', 'end.attempt_id'),
    )
    .selectAll('attempt')
    .select(['end.outcome', 'end.evidence', 'end.input_hash', 'end.answer'])
    .where('end.project_id', '=', projectId)
    .where('end.attempt_id', '=', attemptId)
    .executeTakeFirst()
  if (!row) return null
  return {
    outcome: parsed(row.outcome),
    evidence: parsed(row.evidence),
    inputHash: row.input_hash,
    answer: parsed(row.answer),
    counts: countsOf(row) ?? noChanges,
  }
}

export async function changesOf(
  { db, projectId }: ReadScope,
  attemptId: AttemptId,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly ReportedChange[]> {
  const rows = await db
    .selectFrom('attempt_change')
    .select('body')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .where('position', '>=', offset)
    .orderBy('position')
    .limit(limit)
    .execute()
  return rows.map(({ body }) => parsed<ReportedChange>(body))
}

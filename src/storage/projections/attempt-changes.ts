import type { AttemptId } from '../../domain/id.ts'
import type { ReportedChange } from '../../domain/track/evidence.ts'
import { inBatches } from './batches.ts'
import type { Projecting } from './projecting.ts'

export async function insertChanges(
  { db, projectId }: Projecting,
  attemptId: AttemptId,
  changes: readonly ReportedChange[],
): Promise<void> {
  const rows = changes.toSorted(outOfScopeFirst).map((change, position) => ({
    project_id: projectId,
    attempt_id: attemptId,
    position,
    path: change.path,
    body: JSON.stringify(change),
  }))
  for (const batch of inBatches(rows)) await db.insertInto('attempt_change').values(batch).execute()
}

function outOfScopeFirst(a: ReportedChange, b: ReportedChange): number {
  const rank = (change: ReportedChange): number => (change.scope === 'out' ? 0 : 1)
  return rank(a) - rank(b) || (a.path < b.path ? -1 : Number(a.path > b.path))
}

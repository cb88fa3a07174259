import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import { attemptOf } from '../rows/attempt-row.ts'
import { parsed } from '../rows/json.ts'
import type { ReadScope } from './scope.ts'

// One index knows the open attempts and another the closed ones: each half of a union uses its own.

export async function attemptsInTree(
  { db, projectId }: ReadScope,
  top: string,
  since: number,
): Promise<readonly Attempt[]> {
  const inTree = db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('tree_top', '=', top)
  const rows = await inTree
    .where('status', '=', 'open')
    .unionAll(inTree.where('closed_at', '>=', since))
    .orderBy('seq')
    .limit(200)
    .execute()
  return rows.map(attemptOf)
}

export async function silentAttempts(
  { db, projectId }: ReadScope,
  lastCall: number,
): Promise<readonly Attempt[]> {
  const rows = await db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('status', '=', 'open')
    .where('last_call_at', '<=', lastCall)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('hold')
            .select('hold.id')
            .whereRef('hold.project_id', '=', 'attempt.project_id')
            .whereRef('hold.attempt_id', '=', 'attempt.id')
            .where('hold.kind', '=', 'stale_attempt')
            .where('hold.status', '=', 'open'),
        ),
      ),
    )
    .orderBy('seq')
    .limit(50)
    .execute()
  return rows.map(attemptOf)
}

/** Not limited: a snapshot that is not named here may be swept away. */
export async function keptSnapshots(
  { db, projectId }: ReadScope,
  since: number,
): Promise<readonly SnapshotPlace[]> {
  const snapshots = db
    .selectFrom('attempt')
    .select(['snapshot', 'end_snapshot'])
    .where('project_id', '=', projectId)
  const rows = await snapshots
    .where('status', '=', 'open')
    .unionAll(snapshots.where('closed_at', '>=', since))
    .execute()
  const texts = new Set(rows.flatMap((row) => [row.snapshot, row.end_snapshot]))
  return [...texts].filter((text) => text !== null).map((text) => parsed<SnapshotPlace>(text))
}

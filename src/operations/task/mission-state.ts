import type { Evidence } from '../../domain/fact.ts'
import type { AttemptId } from '../../domain/id.ts'
import { changesOfMission, type MissionChange } from '../../domain/track/mission-changes.ts'
import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { MissionTree } from '../../ports/reads/mission-reads.ts'
import type { Reads } from '../../ports/store.ts'
import type { WorkTreeWitness } from '../../ports/work-tree.ts'
import type { Handling } from '../context.ts'

/** What a mission's changes come to with an attempt that ends, and which end of an attempt they were measured after. */
export interface MissionState {
  /** Null where it could not be measured: then the attempt's own changes are added to what is recorded. */
  readonly rows: readonly MissionChange[] | null
  readonly after: AttemptId | null
}

/**
 * Measures a mission's changes in the work tree of an attempt that ends: the difference of the state at its first
 * attempt there and the state now, not the sum of its attempts.
 */
export async function measureMission(
  { store, witness }: Handling,
  attempt: Attempt,
  { changes, endSnapshot }: Pick<Evidence, 'changes' | 'endSnapshot'>,
): Promise<MissionState> {
  const tree = await store.view((reads) => missionTree(reads, attempt))
  if (tree === null) return { rows: [], after: null }
  const after = tree.lastEnded?.id ?? null
  if (endSnapshot === null) return { rows: null, after }
  if (changes.length === 0 && (await isAsAtLastEnd(witness, tree, endSnapshot))) return { rows: [], after }
  const isFirst = tree.first === null || tree.first.id === attempt.id
  const gap = gapBefore(attempt, tree)
  const [states, between] = await Promise.all([
    isFirst ? null : witness.changes(tree.first?.snapshot ?? attempt.snapshot, endSnapshot),
    gap === null ? [] : witness.touched(gap.from, gap.to),
  ])
  if (states?.status === 'unknown') return { rows: null, after }
  const rivals = changes.filter((change) => change.with?.some(({ taskId }) => !tree.tasks.has(taskId)))
  const others = new Set([...(between ?? []), ...rivals.map(({ path }) => path)])
  const measured = { recorded: tree.recorded, own: changes, states: states?.changes ?? changes, others }
  return { rows: changesOfMission(measured), after }
}

// Then what was measured at that end still holds. Comparing two such snapshots takes no process of git.
async function isAsAtLastEnd(
  witness: WorkTreeWitness,
  { lastEnded }: MissionTree,
  now: SnapshotPlace,
): Promise<boolean> {
  const then = lastEnded?.endSnapshot
  if (!then || then.id !== now.id) return false
  return (await witness.touched(then, now))?.length === 0
}

/** Another attempt of the mission ended in the tree since its changes were measured: they are measured again. */
export class MissionMoved extends Error {}

/** Fails with `MissionMoved`. */
export async function assertCurrent(reads: Reads, attempt: Attempt, { after }: MissionState): Promise<void> {
  const tree = await missionTree(reads, attempt)
  if (tree !== null && (tree.lastEnded?.id ?? null) !== after) throw new MissionMoved()
}

async function missionTree(
  { missions }: Reads,
  { missionId, snapshot }: Attempt,
): Promise<MissionTree | null> {
  return missionId === null ? null : missions.tree(missionId, snapshot.top)
}

/** The time before an attempt in which no attempt of its mission was open in the tree. */
function gapBefore(
  attempt: Attempt,
  { lastEnded, openSince }: MissionTree,
): { readonly from: SnapshotPlace; readonly to: SnapshotPlace } | null {
  if (lastEnded?.endSnapshot == null || lastEnded.closedAt === null) return null
  const isCovered = lastEnded.closedAt >= attempt.openedAt || openSince.some((at) => at < attempt.openedAt)
  return isCovered ? null : { from: lastEnded.endSnapshot, to: attempt.snapshot }
}

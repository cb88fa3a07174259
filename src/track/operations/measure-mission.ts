import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import type { TaskId } from '../../kernel/id.ts'
import { changeReport, names, place } from '../../kernel/operations/fields.ts'
import {
  type BriefOf,
  type MeasurementOf,
  measurement,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Reads } from '../../store/ports/store.ts'
import { changesOfMission, type MissionChange } from '../domain/changes.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../domain/task.ts'
import type { MissionTree } from '../ports/mission-reads.ts'

/** How the changes of a mission in a work tree are measured. */
export const missionStates = measurement({
  brief: z.strictObject({
    from: place,
    end: place,
    /** The snapshot at the mission's first attempt there; null for that attempt itself, if no other one changed files. */
    first: place.nullable(),
    /** The last attempt's end snapshot, where nothing may have changed since. */
    last: place.nullable(),
    /** A time in which no attempt of the mission was open. */
    gap: z.strictObject({ from: place, to: place }).nullable(),
  }),
  measured: z.strictObject({
    isAsBefore: z.boolean(),
    states: changeReport.nullable(),
    between: names.nullable(),
  }),
  measure: async ({ witness }, { from, end, first, last, gap }) => {
    const isSame = async (earlier: SnapshotLocation) =>
      (await witness.touchedPaths(earlier, end))?.length === 0
    // The last measurement then still holds. Comparing two such snapshots starts no git process.
    const isAsBefore = last !== null && (await isSame(last))
    if (isAsBefore && (await isSame(from))) return { isAsBefore, states: null, between: [] }
    const [states, between] = await Promise.all([
      first === null ? null : witness.changes(first, end),
      gap === null ? [] : witness.touchedPaths(gap.from, gap.to),
    ])
    return { isAsBefore, states, between }
  },
})

export function missionBrief(
  attempt: Attempt,
  tree: MissionTree,
  end: SnapshotLocation | null,
): BriefOf<typeof missionStates> | undefined {
  if (end === null) return undefined
  const isFirst = tree.first === null || (tree.first.id === attempt.id && tree.recorded.length === 0)
  const last = tree.lastEnded?.endSnapshot
  return {
    from: attempt.snapshot,
    end,
    first: isFirst ? null : (tree.first?.snapshot ?? attempt.snapshot),
    last: last && last.id === end.id ? last : null,
    gap: gapSinceLastEnd(attempt, tree),
  }
}

/** The mission's changes since its first attempt in this work tree; null where they could not be measured. */
export async function missionRows(
  reads: Reads,
  {
    attempt,
    mission,
    evidence: { changes, endSnapshot },
  }: {
    readonly attempt: Attempt
    readonly mission: MissionTree | null
    readonly evidence: AttemptMeasurement
  },
  measured: MeasurementOf<typeof missionStates> | undefined,
): Promise<readonly MissionChange[] | null> {
  if (mission === null) return []
  if (endSnapshot === null || measured === undefined) return null
  const { isAsBefore, states, between } = measured
  if (isAsBefore && changes.length === 0) return []
  if (states?.status === 'unknown') return null
  const own: ReadonlySet<string> = await tasksOf(reads, attempt, changes)
  const contested = changes.filter((change) => change.with?.some(({ taskId }) => !own.has(taskId)))
  const others = new Set([...(between ?? []), ...contested.map(({ path }) => path)])
  return changesOfMission({
    recorded: mission.recorded,
    own: changes,
    states: states?.changes ?? changes,
    others,
    isLater: (mission.lastEnded?.closedAt ?? Number.POSITIVE_INFINITY) < attempt.openedAt,
  })
}

/** Of the tasks that may have changed the same files, those of the attempt's own mission. */
async function tasksOf(
  { missions }: Reads,
  { missionId, snapshot }: Attempt,
  changes: AttemptMeasurement['changes'],
): Promise<ReadonlySet<TaskId>> {
  const candidates = changes.flatMap((change) => (change.with ?? []).map(({ taskId }) => taskId))
  const candidateIds = [...new Set(candidates)] as TaskId[] // the id of a turn matches no task
  if (missionId === null || candidateIds.length === 0) return new Set()
  return missions.tasksInTree(missionId, treeOf(snapshot), candidateIds)
}

export async function missionTree(
  { missions }: Reads,
  { missionId, snapshot }: Attempt,
): Promise<MissionTree | null> {
  return missionId === null ? null : missions.tree(missionId, treeOf(snapshot))
}

/** The time before an attempt in which no attempt of its mission was open in the tree. */
function gapSinceLastEnd(
  attempt: Attempt,
  { lastEnded, openSince }: MissionTree,
): { readonly from: SnapshotLocation; readonly to: SnapshotLocation } | null {
  if (lastEnded?.endSnapshot == null || lastEnded.closedAt === null) return null
  const isCovered = lastEnded.closedAt >= attempt.openedAt || openSince.some((at) => at < attempt.openedAt)
  return isCovered ? null : { from: lastEnded.endSnapshot, to: attempt.snapshot }
}

import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { measuredList, names, place } from '../../kernel/operations/fields.ts'
import { measurement } from '../../kernel/operations/measurement-protocol.ts'
import type { Reads } from '../../store/ports/store.ts'
import { parseScope } from '../domain/scope/scope.ts'
import { type AreaOverlap, overlappingAreas } from '../domain/scope/survey.ts'
import type { StartedTask } from '../domain/start-task.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../domain/task.ts'

/** Overlaps with the areas of other open attempts in the work tree, by attempt id. */
export interface AreaOverlaps {
  readonly areas: readonly string[]
  readonly byAttempt: ReadonlyMap<string, readonly AreaOverlap[]>
}

const areasOf = z.strictObject({ areas: names, prefix: z.string() })
const overlapsOf = measuredList(measuredList(z.strictObject({ ours: z.string(), theirs: z.string() })), 1_000)

/** The files that the areas of a new attempt match, and overlaps with the areas of open attempts. */
export const areaSurvey = measurement({
  brief: z.strictObject({ ref: place, areas: names, others: measuredList(areasOf, 1_000) }),
  measured: z.strictObject({
    matched: measuredList(z.strictObject({ area: z.string(), excludes: z.boolean(), files: z.int() })),
    overlaps: overlapsOf,
  }),
  measure: async ({ witness }, { ref, areas, others }) => {
    const [matched, overlaps] = await Promise.all([
      witness.matching(ref, areas),
      others.length === 0 ? [] : witness.overlapping(ref, areas, others),
    ])
    return { matched, overlaps }
  },
})

/** The attempts that were open in a work tree when the snapshot was made. */
export async function openAttemptsInTree(
  { tasks }: Reads,
  ref: SnapshotLocation,
  at: number,
): Promise<readonly Attempt[]> {
  const inTree = await tasks.attemptsInTree(treeOf(ref), at)
  return inTree.filter(({ openedAt, closedAt }) => openedAt <= at && (closedAt === null || closedAt > at))
}

/** Warnings about other attempts that are open in the same work tree, outside the task's own family. */
export async function overlappingAttempts(
  reads: Reads,
  { task, attempt }: Pick<StartedTask, 'task' | 'attempt'>,
  overlaps: AreaOverlaps,
): Promise<readonly string[]> {
  const inTree = await reads.tasks.attemptsInTree(treeOf(attempt.snapshot), attempt.openedAt)
  const open = inTree.filter((other) => other.status === 'open' && other.taskId !== task.id)
  if (open.length === 0) return []
  // A new task is not stored yet: its ancestors are read from its parent.
  const parent = task.parentTaskId
  const chains = await reads.tasks.ancestors([
    ...open.map(({ taskId }) => taskId),
    ...(parent === null ? [] : [parent]),
  ])
  const above = new Set(parent === null ? [] : [parent, ...(chains.get(parent) ?? [])])
  const others = open.filter(({ taskId }) => !above.has(taskId) && !chains.get(taskId)?.includes(task.id))
  if (others.length === 0) return []
  return [
    ...others.slice(0, 5).map((other) => overlapWarning(attempt, other, overlaps)),
    offerOfOwnTree(task.id),
  ]
}

function overlapWarning(attempt: Attempt, other: Attempt, overlaps: AreaOverlaps): string {
  const holder = displayName(other)
  const shared = [
    ...new Set(
      areaOverlapsOf(attempt, other, overlaps).map(({ ours, theirs }) =>
        ours === theirs ? ours : `${ours} and ${theirs}`,
      ),
    ),
  ]
  const overlapText = shared.length === 0 ? '' : ` Overlapping areas: ${shared.slice(0, 5).join(', ')}.`
  return `${holder} has attempt ${other.id} open in this work tree.${overlapText}`
}

/** As measured; for an attempt that began meanwhile, or with other areas, compared by the areas themselves. */
function areaOverlapsOf(
  attempt: Attempt,
  other: Attempt,
  { areas, byAttempt }: AreaOverlaps,
): readonly AreaOverlap[] {
  const isSame = areas.length === attempt.areas.length && areas.every((area) => attempt.areas.includes(area))
  const measured = isSame ? byAttempt.get(other.id) : undefined
  if (measured) return measured
  const scopeOf = (one: Attempt) =>
    parseScope(one.areas, { prefix: one.snapshot.prefix, packages: new Map() })
  return overlappingAreas(scopeOf(attempt), scopeOf(other), [])
}

function offerOfOwnTree(taskId: string): string {
  return `To work separately, end this attempt and run \`waymark worktree add ${taskId}\` in a shell. It creates a work tree. Start ${taskId} again there.`
}

import type { ReportedChange } from '../../track/domain/changes.ts'
import { hashAt, isBroughtLine, type RecordedStep } from './line-hashes.ts'

interface RecordedCounts {
  added: number
  deleted: number
  /** The added lines that are still there, by their hash. */
  readonly alive: Map<string, number>
}

/**
 * The changes of an attempt with no more lines than are recorded as its own, or as possibly its own: where others wrote
 * into the same file meanwhile, git's figures hold their lines, too. Files without recorded lines keep git's figures.
 */
export function withRecordedCounts(
  changes: readonly ReportedChange[],
  /** Oldest first. */
  steps: readonly Pick<
    RecordedStep,
    'path' | 'from' | 'owners' | 'hunks' | 'added' | 'removed' | 'brought'
  >[],
  makers: ReadonlySet<string>,
): readonly ReportedChange[] {
  const files = new Map<string, RecordedCounts>()
  for (const step of steps) {
    const earlier = step.from === undefined ? undefined : files.get(step.from)
    if (step.from !== undefined && earlier !== undefined) {
      files.delete(step.from)
      files.set(step.path, earlier)
    }
    if (step.hunks.length === 0 || !step.owners.some((owner) => makers.has(owner))) continue
    const own = files.get(step.path) ?? { added: 0, deleted: 0, alive: new Map() }
    files.set(step.path, own)
    countStep(own, step)
  }
  return changes.map((change) => {
    const own = files.get(change.path)
    if (own === undefined || change.addedLines === null || change.deletedLines === null) return change
    const { broughtLines = 0 } = change
    const addedLines = Math.min(change.addedLines, own.added + broughtLines)
    return { ...change, addedLines, deletedLines: Math.min(change.deletedLines, own.deleted) }
  })
}

/** A line that the attempt added and removed again counts as neither. */
function countStep(
  own: RecordedCounts,
  { hunks, added, removed, ...step }: Pick<RecordedStep, 'hunks' | 'added' | 'removed' | 'brought'>,
): void {
  let [addedAt, removedAt] = [0, 0]
  for (const [, removedCount, after, addedCount] of hunks) {
    for (let more = 0; more < removedCount; more += 1, removedAt += 1) {
      const hash = hashAt(removed, removedAt) ?? ''
      const alive = own.alive.get(hash) ?? 0
      if (alive > 0) {
        own.alive.set(hash, alive - 1)
        own.added -= 1
      } else own.deleted += 1
    }
    for (let line = after; line < after + addedCount; line += 1, addedAt += 1) {
      if (isBroughtLine(step, line)) continue
      const hash = hashAt(added, addedAt)
      if (hash !== null) own.alive.set(hash, (own.alive.get(hash) ?? 0) + 1)
      own.added += 1
    }
  }
}

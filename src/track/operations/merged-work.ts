import type { MeasurementOf } from '../../kernel/operations/measurement-protocol.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Attempt, treeOf } from '../domain/task.ts'
import type { attemptChanges } from './measure-attempt.ts'
import { undoneTasks } from './tree-write.ts'

/**
 * The changes of an attempt, where git brought a file exactly as another task left it in another work tree. It was
 * judged when that task ended, and is none of this one's.
 */
export async function withMergedWork<
  Changes extends MeasurementOf<typeof attemptChanges>[number] | undefined,
>(reads: Reads, attempt: Attempt, changes: Changes): Promise<Changes> {
  if (changes === undefined || changes.arrived.length === 0) return changes
  const { report, sensitive, arrived } = changes
  const merged = await mergedPaths(reads, attempt, new Map(arrived))
  const isMerged = (path: string) => merged.has(path)
  return {
    ...changes,
    report: {
      ...report,
      changes: report.changes.map((one) => (isMerged(one.path) ? { ...one, origin: 'imported' } : one)),
    },
    sensitive: sensitive.filter(([path]) => !isMerged(path)),
  }
}

async function mergedPaths(
  reads: Reads,
  attempt: Attempt,
  arrived: ReadonlyMap<string, string | null>,
): Promise<ReadonlySet<string>> {
  const { lines, tasks } = reads
  const here = treeOf(attempt.snapshot)
  const [recorded, related] = await Promise.all([
    lines.stepsOf([...arrived.keys()]),
    tasks.relatedAttempts(attempt),
  ])
  const steps = recorded.filter(
    ({ path, after, origin, owners, span }) =>
      after === arrived.get(path) && origin !== 'imported' && owners.length > 0 && span.tree !== here,
  )
  const own = new Set<string>([attempt.taskId, ...related.map((one) => one.attempt.taskId)])
  const makers = [...new Set(steps.flatMap(({ owners }) => owners))]
  const attempts = await Promise.all(makers.map((id) => tasks.attempt(id)))
  // What an attempt leaves that failed is not judged in full, and what a person sent back or undid is not accepted.
  const found = attempts.flatMap((one) =>
    one !== null && !own.has(one.taskId) && (one.status === 'success' || one.status === 'partial_success')
      ? [one]
      : [],
  )
  const [cards, undone, asked] = await Promise.all([
    tasks.cards([...new Set(found.map(({ taskId }) => taskId))]),
    undoneTasks(reads, new Map(found.map((one) => [one.taskId, one]))),
    reads.inboxItems.ofAttempts(found.map(({ id }) => id)),
  ])
  const done = new Set(cards.flatMap(({ task }) => (task.status === 'done' ? [task.id] : [])))
  const judged = new Set<string>(
    found.flatMap(({ id, taskId }) => (done.has(taskId) && !undone.has(taskId) ? [id] : [])),
  )
  const refused = new Set(
    asked.flatMap(({ kind, status, action, paths }) =>
      kind === 'scope' && status !== 'open' && action !== 'approved' ? paths : [],
    ),
  )
  const merged = steps.filter(
    ({ owners, path }) => owners.every((id) => judged.has(id)) && !refused.has(path),
  )
  return new Set(merged.map(({ path }) => path))
}

import type { Reads } from '../../store/ports/store.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { type Attempt, isOfOtherSession, treeOf } from '../domain/task.ts'

/** Of the tasks that may have made an uncertain change, those of the attempt's own session. */
export async function tasksOfSession(
  { tasks, capture }: Reads,
  attempt: Attempt,
  changes: readonly ReportedChange[],
): Promise<ReadonlySet<string>> {
  const candidates = changes.flatMap(({ attribution, with: others = [] }) =>
    attribution === 'contested' ? others.map(({ taskId }): string => taskId) : [],
  )
  const names = new Set(candidates)
  if (names.size === 0) return names
  const inTree = await tasks.attemptsInTree(treeOf(attempt.snapshot), attempt.openedAt)
  const beside = inTree.filter(({ taskId }) => names.has(taskId))
  const sessionOf = await sessionsOf(capture, [attempt, ...beside])
  const others = new Set<string>(
    beside.filter((other) => isOfOtherSession(attempt, other, sessionOf)).map(({ taskId }) => taskId),
  )
  return new Set(beside.map(({ taskId }): string => taskId).filter((id) => !others.has(id)))
}

/** The recorded session of each attempt that has one. */
export async function sessionsOf(
  capture: Reads['capture'],
  attempts: readonly Attempt[],
): Promise<ReadonlyMap<string, string>> {
  const links = await capture.linksOf(attempts.map(({ id }) => id))
  return new Map(links.map(({ attemptId, sessionId }) => [attemptId, sessionId]))
}

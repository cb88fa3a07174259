import { pathInsidePrefix } from '../../../kernel/path-pattern.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { namesOf } from '../../../track/domain/changes.ts'
import { isDeclared, judgePath, parseScope } from '../../../track/domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../../track/domain/task.ts'
import type { MeasuredWorkTree } from './subject-changes.ts'

/** A file that differs from the start of a subject's first attempt, and changed while none of its attempts ran. */
export interface GapChange {
  /** The work tree. */
  readonly top: string
  readonly path: string
  /** From the project's folder; null for a file outside it. */
  readonly own: string | null
  /** It controls commands or agents' instructions. */
  readonly isSensitive: boolean
}

/** An interval after a subject's first attempt without an attempt; abandoned attempts do not count. */
interface AttemptGap {
  readonly from: SnapshotLocation
  /** Null: until now. */
  readonly to: SnapshotLocation | null
}

/** A work tree of a subject, and the measurements it needs outside its attempts. */
export interface WorkQuestion {
  /** All attempts at the subject there, in order. */
  readonly own: readonly Attempt[]
  readonly first: Attempt
  /** The last attempt, if none is open; null if files touched since are not needed. */
  readonly last: Attempt | null
  readonly gaps: readonly AttemptGap[]
  /** Whether its changes are compared with the start of the first attempt. */
  readonly isCompared: boolean
}

/**
 * Changes in the work trees of a subject outside its attempts: between them, since the last one, and in abandoned ones.
 * Changes by git and by other work are left out. Trees that are gone or on another machine, and expired snapshots, yield
 * nothing. Null if a tree exists and cannot be measured.
 */
export async function gapChangesOf(
  reads: Reads,
  trees: readonly MeasuredWorkTree[],
): Promise<readonly GapChange[] | null> {
  const found: GapChange[] = []
  for (const { own, first, measured } of trees) {
    if (measured.gaps === null) return null
    const { changes, sensitive } = measured.gaps
    if (changes.length === 0) continue
    const foreign = await foreignWork(reads, own, first)
    const { top, prefix } = first.snapshot
    const open = changes.filter(({ path }) => !foreign(path))
    const paths = new Set(open.flatMap(namesOf))
    for (const path of paths) {
      found.push({ top, path, own: pathInsidePrefix(path, prefix), isSensitive: sensitive.includes(path) })
    }
  }
  return found
}

export type WorkPeriod = Pick<Attempt, 'status' | 'snapshot' | 'endSnapshot' | 'openedAt' | 'closedAt'>

/** The intervals in which none of them ran. */
export function gapsOf(attempts: readonly WorkPeriod[]): readonly AttemptGap[] {
  const [first] = attempts
  if (first === undefined) return []
  const gaps: AttemptGap[] = []
  let last: { place: SnapshotLocation | null; at: number } = { place: first.snapshot, at: first.openedAt }
  for (const { status, snapshot, endSnapshot, openedAt, closedAt } of attempts) {
    if (status === 'abandoned') continue
    if (openedAt > last.at && last.place) gaps.push({ from: last.place, to: snapshot })
    if (status === 'open') return gaps
    if ((closedAt ?? 0) > last.at) last = { place: endSnapshot, at: closedAt ?? 0 }
  }
  if (last.place) gaps.push({ from: last.place, to: null })
  return gaps
}

/** Whether a path is in the scope of other work in the tree, or was changed by other work in any tree. */
async function foreignWork(
  { tasks, runs }: Reads,
  own: readonly Attempt[],
  { snapshot, openedAt }: Attempt,
): Promise<(path: string) => boolean> {
  const ownIds = new Set<string>(own.map(({ id }) => id))
  const tree = treeOf(snapshot)
  const places = await tasks.keptSnapshots(openedAt)
  const trees = new Set([tree, ...places.map(treeOf)])
  const since = await Promise.all([...trees].map((one) => tasks.attemptsInTree(one, openedAt)))
  const foreign = since.flat().filter(({ id }) => !ownIds.has(id))
  const ended = foreign.filter(({ status }) => status !== 'open').map(({ id }) => id)
  const others = foreign.filter((other) => treeOf(other.snapshot) === tree)
  const changed = await runs.changesOf(ended)
  const scopes = others
    .map(({ areas, snapshot: { prefix } }) => parseScope(areas, { prefix, packages: new Map() }))
    .filter(isDeclared)
  const theirs = new Set(changed.flatMap(({ changes }) => changes.map(({ path }) => path)))
  return (path) => theirs.has(path) || scopes.some((scope) => judgePath(scope, path) === 'in')
}

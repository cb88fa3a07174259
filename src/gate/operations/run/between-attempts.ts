import { Failure } from '../../../kernel/failure.ts'
import type { QueryContext } from '../../../kernel/operations/operation.ts'
import { pathInsidePrefix } from '../../../kernel/path-pattern.ts'
import type { FileChange } from '../../../track/domain/changes.ts'
import { isDeclared, judgePath, parseScope } from '../../../track/domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../../track/domain/task.ts'
import { sensitiveChanges } from '../../../track/operations/sensitive.ts'

/** A file that differs from how it was at a subject's first attempt, and changed while none of its attempts ran. */
export interface GapChange {
  /** The work tree. */
  readonly top: string
  readonly path: string
  /** From the project's folder; null for a file outside it. */
  readonly own: string | null
  /** It decides what runs, or what agents are told. */
  readonly isSensitive: boolean
}

/** A time after a subject's first attempt in a work tree in which no attempt ran that was brought to its end. */
interface AttemptGap {
  readonly from: SnapshotLocation
  readonly to: SnapshotLocation
}

/**
 * What changed in the work trees of a subject outside its attempts: between them, since the last, and in those that were
 * given up, whose end nobody measured. Without what git brought and what others worked on. Trees that are gone or on
 * another machine, and snapshots whose time is over, tell nothing. Null where a tree is there and cannot be measured.
 */
export async function changesBetween(
  context: QueryContext,
  attempts: readonly Attempt[],
): Promise<readonly GapChange[] | null> {
  const here = attempts.filter(({ snapshot }) => snapshot.edge === context.edge?.id)
  const trees = Map.groupBy(here, ({ snapshot }) => treeOf(snapshot))
  try {
    const found = await Promise.all([...trees.values()].map((own) => changesInTree(context, own)))
    return found.flat()
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return null
    throw error
  }
}

async function changesInTree(
  context: QueryContext,
  attempts: readonly Attempt[],
): Promise<readonly GapChange[]> {
  const own = attempts.toSorted((a, b) => a.openedAt - b.openedAt)
  const [first] = own
  if (first === undefined || isCovered(own)) return []
  const now = await currentSnapshotPlace(context, first.snapshot)
  if (now === null) return []
  const all = await changesOf(context, first.snapshot, now)
  if (all.length === 0) return []
  const foreign = await foreignWork(context, own, first)
  const open = all.filter(({ path }) => !foreign(path))
  if (open.length === 0) return []
  const inGaps = new Set<string>()
  for (const { from, to } of gapsOf(own, now)) {
    for (const { path, from: old } of await changesOf(context, from, to)) {
      inGaps.add(path)
      if (old !== undefined) inGaps.add(old)
    }
  }
  const changed = open.filter(
    ({ path, from }) => inGaps.has(path) || (from !== undefined && inGaps.has(from)),
  )
  const settings = await context.store.view(({ runs }) => runs.settings())
  const setting = settings.get('sensitive') ?? null
  const sensitive = await sensitiveChanges(context, first.snapshot, { changes: changed, end: now, setting })
  const { top, prefix } = first.snapshot
  const paths = changed.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
  return [...new Set(paths)].map((path) => {
    return { top, path, own: pathInsidePrefix(path, prefix), isSensitive: sensitive.has(path) }
  })
}

/** One attempt that is still open is the usual case: nothing was outside it. */
function isCovered([first, ...more]: readonly Attempt[]): boolean {
  return more.length === 0 && first?.status === 'open'
}

function gapsOf(attempts: readonly Attempt[], now: SnapshotLocation): readonly AttemptGap[] {
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
  if (last.place) gaps.push({ from: last.place, to: now })
  return gaps
}

/** The tree as it is now; null where it is gone. */
async function currentSnapshotPlace(
  { witness, ids }: QueryContext,
  { top, prefix, engine }: SnapshotLocation,
): Promise<SnapshotLocation | null> {
  const request = { folder: `${top}/${prefix}`, name: ids.next('attempt'), engine, top }
  try {
    return (await witness.snapshot(request)).ref
  } catch (error) {
    if (error instanceof Failure && error.reason === 'folder_not_found') return null
    throw error
  }
}

const heldByGit = { change: 'modified', origin: 'task', addedLines: null, deletedLines: null } as const

async function changesOf(
  { witness }: QueryContext,
  from: SnapshotLocation,
  to: SnapshotLocation,
): Promise<readonly FileChange[]> {
  const { changes, unreadable } = await witness.changes(from, to)
  // Folders end with a slash; a file is one of which git holds a change that the disk has not.
  const held = unreadable.filter((path) => !path.endsWith('/'))
  return [
    ...changes.filter(({ origin }) => origin !== 'imported'),
    ...held.map((path): FileChange => ({ path, ...heldByGit })),
  ]
}

/** Whether a path lies in the areas of other work in the tree since then, or in what other work changed: also in other trees. */
async function foreignWork(
  { store }: QueryContext,
  own: readonly Attempt[],
  { snapshot, openedAt }: Attempt,
): Promise<(path: string) => boolean> {
  const ownIds = new Set<string>(own.map(({ id }) => id))
  const tree = treeOf(snapshot)
  const { others, changed } = await store.view(async ({ tasks, runs }) => {
    const places = await tasks.keptSnapshots(openedAt)
    const trees = new Set([tree, ...places.map(treeOf)])
    const since = await Promise.all([...trees].map((one) => tasks.attemptsInTree(one, openedAt)))
    const foreign = since.flat().filter(({ id }) => !ownIds.has(id))
    const ended = foreign.filter(({ status }) => status !== 'open').map(({ id }) => id)
    return {
      others: foreign.filter((other) => treeOf(other.snapshot) === tree),
      changed: await runs.changesOf(ended),
    }
  })
  const scopes = others
    .map(({ areas, snapshot: { prefix } }) => parseScope(areas, { prefix, packages: new Map() }))
    .filter(isDeclared)
  const theirs = new Set(changed.flatMap(({ changes }) => changes.map(({ path }) => path)))
  return (path) => theirs.has(path) || scopes.some((scope) => judgePath(scope, path) === 'in')
}

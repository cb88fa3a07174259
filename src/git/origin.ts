import type { HeadMove, Origin } from '../domain/track/changes.ts'
import { changedPaths, commitsBetween, pathsByCommit, unreachable } from './commit-paths.ts'
import { type Difference, sameState } from './comparison.ts'
import { type RepositoryPair, repositoryPairs, type Span } from './differences.ts'
import { type HeadHistory, headHistory, isOwn } from './head-history.ts'
import { leftBehind } from './left-behind.ts'
import { displayPath, type PathBytes } from './path-bytes.ts'
import type { PrivateDirectory } from './private-directory.ts'
import { type ReflogEntry, reflogBetween } from './reflog.ts'
import { treeDifference } from './tree-difference.ts'

/** Which changes are the task's own and which merely arrived. */
export interface Origins {
  readonly of: (path: PathBytes) => Origin
  readonly moves: readonly HeadMove[]
  readonly notes: readonly string[]
  readonly doubts: readonly string[]
}

interface RepositoryOrigins {
  readonly imported: ReadonlySet<PathBytes>
  readonly own: ReadonlySet<PathBytes>
  readonly moves: readonly HeadMove[]
  readonly notes: readonly string[]
  readonly doubts: readonly string[]
}

const nothing: RepositoryOrigins = { imported: new Set(), own: new Set(), moves: [], notes: [], doubts: [] }

/** Reads from each repository's reflog how HEAD moved, and from the commits which paths came with it. */
export async function findOrigins(
  place: PrivateDirectory,
  span: Span,
  compared: readonly Difference[],
): Promise<Origins> {
  const pairs = repositoryPairs(span).filter(({ presence }) => presence === 'both')
  const found = await Promise.all(pairs.map((pair) => originsIn(place, pair)))
  const imported = new Set(found.flatMap((one) => [...one.imported]))
  const own = new Set(found.flatMap((one) => [...one.own]))
  if (imported.size > 0) {
    for (const difference of compared) if (isUncommittedWork(difference, pairs)) own.add(difference.path)
  }
  return {
    of: (path) => (!imported.has(path) ? 'task' : own.has(path) ? 'mixed' : 'imported'),
    moves: found.flatMap(({ moves }) => moves),
    notes: found.flatMap(({ notes }) => notes),
    doubts: found.flatMap(({ doubts }) => doubts),
  }
}

async function originsIn(place: PrivateDirectory, pair: RepositoryPair): Promise<RepositoryOrigins> {
  const { from, to } = pair
  const merging = to.operation?.commits ?? []
  const grown = from.reflogPosition?.size !== to.reflogPosition?.size
  if (from.head === to.head && !grown && merging.length === 0) return nothing
  const where = to.prefix === '' ? 'HEAD' : `The HEAD of ${displayPath(to.prefix)}`
  const entries = await reflogBetween(to.reflog, from.reflogPosition, to.reflogPosition)
  if (entries === null || !reaches(entries, pair)) {
    const doubt = `${where} moved and no reflog tells how: everything counts as the task's own.`
    return { ...nothing, doubts: from.head === to.head ? [] : [doubt] }
  }
  const history = headHistory(from.head, entries)
  try {
    const [paths, notes] = await Promise.all([
      arrivals(place, history, { merging, known: knownBefore(pair) }),
      leftBehind(place, history, to.head),
    ])
    const moves = headMoves(entries, (commit) => paths.byCommit.get(commit)?.map((path) => to.prefix + path))
    return { ...prefixed(paths, to.prefix), notes, moves, doubts: [] }
  } catch {
    const doubt = `${where} moved and some of the commits are gone: everything counts as the task's own.`
    return { ...nothing, moves: headMoves(entries), doubts: [doubt] }
  }
}

interface Paths {
  readonly imported: ReadonlySet<PathBytes>
  readonly own: ReadonlySet<PathBytes>
}

interface Arrivals extends Paths {
  /** What each of the task's own commits changes. */
  readonly byCommit: ReadonlyMap<string, readonly PathBytes[]>
}

async function arrivals(
  place: PrivateDirectory,
  { positions, own, replayed }: HeadHistory,
  { merging, known }: { readonly merging: readonly string[]; readonly known: readonly string[] | null },
): Promise<Arrivals> {
  const made = new Set([...own.map(({ commit }) => commit), ...replayed])
  const between = await commitsBetween(place, [...positions, ...merging])
  const arrived = between?.filter((commit) => !made.has(commit)) ?? []
  // The reflog's words are the agent's to choose: a commit that nobody had before the task is not somebody else's.
  const bornHere = known === null ? new Set<string>() : await unreachable(place, arrived, known)
  const [imported, byCommit] = await Promise.all([
    between === null
      ? wholeDifference(place, [...positions, ...merging])
      : changedPaths(
          place,
          arrived.map((commit) => [commit]),
        ),
    pathsByCommit(place, [
      ...own.map(({ commit, insteadOf }): [string, ...string[]] =>
        insteadOf === null ? [commit] : [commit, insteadOf],
      ),
      ...[...bornHere].map((commit): [string] => [commit]),
    ]),
  ])
  return { imported, own: new Set([...byCommit.values()].flat()), byCommit }
}

/** Commits that existed before the task, or that a fetch brought. Null when that is not known. */
function knownBefore({ from, to }: RepositoryPair): readonly string[] | null {
  if (from.refs === null || to.refs === null) return null
  return [...from.refs.all, ...to.refs.remote, ...(from.head === null ? [] : [from.head])]
}

async function wholeDifference(
  place: PrivateDirectory,
  positions: readonly string[],
): Promise<Set<PathBytes>> {
  const [first = '', ...others] = positions
  const differences = await Promise.all(others.map((other) => treeDifference(place, first, other)))
  return new Set(differences.flatMap((difference) => [...difference.keys()]))
}

// The log must lead from one snapshot's commit to the other's, or something moved HEAD behind its back.
function reaches(entries: readonly ReflogEntry[], { from, to }: RepositoryPair): boolean {
  const last = entries.at(-1)
  if (last === undefined) return from.head === to.head
  return last.to === to.head && (entries[0]?.from === from.head || /^0+$/.test(entries[0]?.from ?? ''))
}

// What is neither as committed now nor as it was at the start was edited here. A merge in progress stages what
// it brings: that counts only where the disk differs from what is staged.
function isUncommittedWork(
  { path, after, headAfter, entryAfter }: Difference,
  pairs: readonly RepositoryPair[],
) {
  if (entryAfter === undefined || sameState(after, headAfter)) return false
  const merging = pairs.some(
    ({ to }) => path.startsWith(to.prefix) && (to.operation?.commits.length ?? 0) > 0,
  )
  return !(merging && entryAfter.staged)
}

function prefixed({ imported, own }: Paths, prefix: PathBytes): Paths {
  if (prefix === '') return { imported, own }
  const below = (path: PathBytes) => prefix + path
  return { imported: new Set([...imported].map(below)), own: new Set([...own].map(below)) }
}

function headMoves(
  entries: readonly ReflogEntry[],
  pathsOf: (commit: string) => readonly PathBytes[] | undefined = () => undefined,
): HeadMove[] {
  return entries
    .filter(({ from, to }) => from !== to)
    .map((entry) => ({
      commit: entry.to,
      action: entry.verb,
      message: entry.message,
      origin: isOwn(entry) ? 'task' : 'imported',
      at: entry.at,
      paths: (pathsOf(entry.to) ?? []).map(displayPath),
    }))
}

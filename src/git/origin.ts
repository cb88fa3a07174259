import type { ChangeOrigin, HeadMove } from '../track/domain/changes.ts'
import { objectIds } from './blobs.ts'
import {
  type Difference,
  isSameState,
  type RepositoryPair,
  repositoryPairs,
  type SnapshotPair,
} from './comparison.ts'
import { isOwnReflogEntry, isReplay, unreachableCommits } from './copied-commits.ts'
import { type ReflogEntry, reflogBetween } from './git-folder.ts'
import { displayPath, nulRecords, type PathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git, runGit } from './process.ts'
import { leavingNothingOut, treeDifference } from './trees.ts'

/** Which changes are the task's own and which git brought. */
export interface ChangeOrigins {
  readonly of: (path: PathBytes) => ChangeOrigin
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

/** Reads the moves of HEAD from each repository's reflog, and the paths that they brought from the commits. */
export async function findOrigins(
  place: PrivateDirectory,
  span: SnapshotPair,
  compared: readonly Difference[],
): Promise<ChangeOrigins> {
  const pairs = repositoryPairs(span).filter(({ presence }) => presence === 'both')
  const starts = new Map(compared.map(({ path, before }) => [path, before?.oid]))
  const origins = await Promise.all(pairs.map((pair) => originsIn(place, pair, starts)))
  const imported = new Set(origins.flatMap((one) => [...one.imported]))
  const own = new Set(origins.flatMap((one) => [...one.own]))
  if (imported.size > 0) {
    for (const difference of compared) if (isUncommittedWork(difference, pairs)) own.add(difference.path)
  }
  return {
    of: (path) => (!imported.has(path) ? 'task' : own.has(path) ? 'mixed' : 'imported'),
    moves: origins.flatMap(({ moves }) => moves),
    notes: origins.flatMap(({ notes }) => notes),
    doubts: origins.flatMap(({ doubts }) => doubts),
  }
}

async function originsIn(
  place: PrivateDirectory,
  pair: RepositoryPair,
  starts: ReadonlyMap<PathBytes, string | null | undefined>,
): Promise<RepositoryOrigins> {
  const { from, to } = pair
  const merging = to.operation?.commits ?? []
  const grown = from.reflogPosition?.size !== to.reflogPosition?.size
  if (from.head === to.head && !grown && merging.length === 0) return nothing
  const where = to.prefix === '' ? 'HEAD' : `The HEAD of ${displayPath(to.prefix)}`
  const entries = reflogBetween(to.reflog, from.reflogPosition, to.reflogPosition)
  if (entries === null || !isReflogComplete(entries, pair)) {
    const doubt = `${where} moved and no reflog tells how: everything counts as the task's own.`
    return { ...nothing, doubts: from.head === to.head ? [] : [doubt] }
  }
  const history = headHistory(from.head, entries)
  try {
    const [arriving, notes] = await Promise.all([
      arrivingChanges(place, history, { merging, knownTips: commitsKnownBefore(pair) }),
      abandonedCommits(place, history, to.head),
    ])
    const paths = await withoutEarlierWork(place, arriving, (path) => starts.get(to.prefix + path))
    const moves = headMoves(entries, (commit) => paths.byCommit.get(commit)?.map((path) => to.prefix + path))
    return { ...prefixPaths(paths, to.prefix), notes, moves, doubts: [] }
  } catch {
    const doubt = `${where} moved and some of the commits are gone: everything counts as the task's own.`
    return { ...nothing, moves: headMoves(entries), doubts: [doubt] }
  }
}

interface OriginPaths {
  readonly imported: ReadonlySet<PathBytes>
  readonly own: ReadonlySet<PathBytes>
}

interface IncomingPaths extends OriginPaths {
  /** The paths that each of the task's own commits changes. */
  readonly byCommit: ReadonlyMap<string, readonly PathBytes[]>
}

async function arrivingChanges(
  place: PrivateDirectory,
  { positions, own, replayed }: HeadHistory,
  {
    merging,
    knownTips,
  }: { readonly merging: readonly string[]; readonly knownTips: readonly string[] | null },
): Promise<IncomingPaths> {
  const ownIds = new Set([...own.map(({ commit }) => commit), ...replayed])
  const between = await commitsBetween(place, [...positions, ...merging])
  const arrived = between?.filter((commit) => !ownIds.has(commit)) ?? []
  // An agent can choose the reflog's messages. A commit that did not exist before the task counts as its own.
  const bornHere =
    knownTips === null ? new Set<string>() : await unreachableCommits(place, arrived, knownTips)
  const [imported, byCommit] = await Promise.all([
    between === null
      ? differenceAcross(place, [...positions, ...merging])
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

/** A commit of what was there at the start is no work of the task: without it, the file is as git brought it. */
async function withoutEarlierWork(
  place: PrivateDirectory,
  paths: IncomingPaths,
  startOf: (path: PathBytes) => string | null | undefined,
): Promise<IncomingPaths> {
  const commits = [...paths.byCommit].flatMap(([commit, changed]) =>
    changed.filter((path) => paths.imported.has(path)).map((path) => ({ commit, path })),
  )
  const oids = await objectIds(
    place,
    commits.map(({ commit, path }) => `${commit}:${path}`),
  )
  const written = new Set(
    commits.flatMap(({ path }, at) => (oids[at] === (startOf(path) ?? null) ? [] : [path])),
  )
  return {
    ...paths,
    own: new Set([...paths.own].filter((path) => !paths.imported.has(path) || written.has(path))),
  }
}

/** Whether HEAD moved to a new commit, as far as is known. */
export async function isHeadNew(place: PrivateDirectory, pair: RepositoryPair): Promise<boolean> {
  const { head } = pair.to
  if (head === null || head === pair.from.head) return false
  const knownTips = commitsKnownBefore(pair)
  return knownTips === null || (await unreachableCommits(place, [head], knownTips)).has(head)
}

/** Commits that existed before the task, or that a fetch brought. Null if unknown. */
function commitsKnownBefore({ from, to }: RepositoryPair): readonly string[] | null {
  if (from.refs === null || to.refs === null) return null
  return [...from.refs.all, ...to.refs.remote, ...(from.head === null ? [] : [from.head])]
}

async function differenceAcross(
  place: PrivateDirectory,
  positions: readonly string[],
): Promise<Set<PathBytes>> {
  const [first = '', ...others] = positions
  const differences = await Promise.all(others.map((other) => treeDifference(place, first, other)))
  return new Set(differences.flatMap((difference) => [...difference.keys()]))
}

// The log must lead from one snapshot's commit to the other's. Otherwise HEAD moved without a log entry.
function isReflogComplete(entries: readonly ReflogEntry[], { from, to }: RepositoryPair): boolean {
  const last = entries.at(-1)
  if (last === undefined) return from.head === to.head
  return last.to === to.head && (entries[0]?.from === from.head || /^0+$/.test(entries[0]?.from ?? ''))
}

// A file that differs from the current commit and from the start was edited here. A merge in progress stages what it
// brings, so then the disk must also differ from the staged state.
function isUncommittedWork(
  { path, before, after, headAfter, entryAfter }: Difference,
  pairs: readonly RepositoryPair[],
) {
  if (entryAfter === undefined || isSameState(after, headAfter) || isSameState(before, after)) return false
  const merging = pairs.some(
    ({ to }) => path.startsWith(to.prefix) && (to.operation?.commits.length ?? 0) > 0,
  )
  return !(merging && entryAfter.staged)
}

function prefixPaths({ imported, own }: OriginPaths, prefix: PathBytes): OriginPaths {
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
      origin: isOwnReflogEntry(entry) ? 'task' : 'imported',
      movedAt: entry.movedAt,
      paths: (pathsOf(entry.to) ?? []).map(displayPath),
    }))
}

const none = /^0+$/

/** A commit that the task made. */
export interface OwnCommit {
  readonly commit: string
  /** The commit that an amended one replaced: then only the difference is the task's. */
  readonly insteadOf: string | null
}

/** The moves of HEAD between two snapshots. */
export interface HeadHistory {
  /** The commits that HEAD was at, in order, without the unborn state. */
  readonly positions: readonly string[]
  readonly own: readonly OwnCommit[]
  /** Replays of earlier commits on a new base. They are neither work nor brought by git. */
  readonly replayed: readonly string[]
  /** Branches that HEAD left, each with its commit at that time. */
  readonly departures: readonly { readonly branch: string; readonly commit: string }[]
}

/** Reads the reflog's entries as a history. */
function headHistory(start: string | null, entries: readonly ReflogEntry[]): HeadHistory {
  const positions = new Set(start === null ? [] : [start])
  const own: OwnCommit[] = []
  const replayed: string[] = []
  const departures: { branch: string; commit: string }[] = []
  for (const entry of entries) {
    const { from, to, verb, detail, message } = entry
    for (const commit of [from, to]) if (!none.test(commit)) positions.add(commit)
    if (isOwnReflogEntry(entry)) own.push({ commit: to, insteadOf: detail === 'amend' ? from : null })
    else if (isReplay(entry)) replayed.push(to)
    const branch = verb === 'checkout' ? /^checkout: moving from (.*) to /.exec(message)?.[1] : undefined
    if (branch !== undefined && !none.test(from)) departures.push({ branch, commit: from })
  }
  return { positions: [...positions], own, replayed, departures }
}

/** Notes on the task's commits that are no longer in the history of HEAD. */
async function abandonedCommits(
  place: PrivateDirectory,
  { own, replayed, departures }: HeadHistory,
  head: string | null,
): Promise<string[]> {
  // The commit at HEAD is not lost.
  if (head === null || own.every(({ commit }) => commit === head)) return []
  const input = Buffer.from([...own.map(({ commit }) => commit), `^${head}`, ''].join('\n'))
  const unreached = new Set(
    (await git(['rev-list', '--stdin'], privateCall(place, input))).toString().split('\n'),
  )
  const lost = own.filter(({ commit }) => unreached.has(commit)).map(({ commit }) => commit)
  // An amended commit is not lost: its successor exists.
  const replaced = new Set(own.map(({ insteadOf }) => insteadOf))
  const left = lost.filter((commit) => !replaced.has(commit))
  if (left.length === 0) return []
  const branches = new Map(departures.map(({ branch, commit }) => [commit, branch]))
  return left.flatMap((commit) => {
    const branch = branches.get(commit)
    // After a rebase the commit exists under another id.
    if (branch === undefined && replayed.length > 0) return []
    const where = branch === undefined || /^[0-9a-f]{40,64}$/.test(branch) ? '' : ` on branch ${branch}`
    return [`Commit ${commit.slice(0, 12)}${where} is no longer in the history of the work tree.`]
  })
}

// With more commits, whole branches are compared.
const maxCommits = 2_000

/** The commits that are reachable from some positions and not from others. Null if there are too many. */
async function commitsBetween(
  place: PrivateDirectory,
  positions: readonly string[],
): Promise<string[] | null> {
  if (positions.length < 2) return []
  const bases = await runGit(['merge-base', '--octopus', '--all', ...positions], privateCall(place))
  // Exit code 1: unrelated histories.
  if (bases.code > 1) throw new Error(bases.stderr)
  const common = bases.output.toString('latin1').split('\n').filter(Boolean)
  const input = Buffer.from([...positions, ...common.map((base) => `^${base}`), ''].join('\n'))
  const limit = `--max-count=${maxCommits + 1}`
  const listed = await git(['rev-list', '--stdin', limit], privateCall(place, input))
  const commits = listed.toString('latin1').split('\n').filter(Boolean)
  return commits.length > maxCommits ? null : commits
}

/** The paths that commits change; of a merge, only what differs from all of its parents. */
async function changedPaths(
  place: PrivateDirectory,
  commits: readonly (readonly string[])[],
): Promise<Set<PathBytes>> {
  if (commits.length === 0) return new Set()
  return new Set(
    nulRecords(await git([...namesOfCommits, '--no-commit-id'], commitInputCall(place, commits))),
  )
}

/** The same for each commit by itself. */
export async function pathsByCommit(
  place: PrivateDirectory,
  commits: readonly (readonly [string, ...string[]])[],
): Promise<ReadonlyMap<string, readonly PathBytes[]>> {
  const byCommit = new Map(commits.map(([commit]) => [commit, [] as PathBytes[]]))
  if (commits.length === 0) return byCommit
  let current: PathBytes[] | undefined
  for (const record of nulRecords(await git(namesOfCommits, commitInputCall(place, commits)))) {
    const paths = byCommit.get(record)
    if (paths === undefined) current?.push(record)
    else current = paths
  }
  return byCommit
}

/** Lists the paths that each commit changes; of a merge, those that differ from all of its parents. */
export const namesOfCommits = [
  'diff-tree',
  '--stdin',
  '-r',
  '-c',
  '--root',
  '--no-renames',
  '--name-only',
  '-z',
  ...leavingNothingOut,
]

function commitInputCall(place: PrivateDirectory, commits: readonly (readonly string[])[]) {
  return privateCall(place, Buffer.from(commits.map((line) => `${line.join(' ')}\n`).join('')))
}

/**
 * The commits that HEAD moved to but that were not made here: checked out, pulled, merged or rebased onto.
 */
export async function arrivedCommits(
  place: PrivateDirectory,
  entries: readonly ReflogEntry[],
): Promise<readonly string[]> {
  const moved = entries.filter(({ from, to }) => from !== to && !none.test(to))
  if (moved.length === 0) return []
  const ownIds = new Set(
    moved.filter((entry) => isOwnReflogEntry(entry) || isReplay(entry)).map(({ to }) => to),
  )
  const joining = moved.filter(({ verb, detail }) => ['merge', 'pull'].includes(verb) || detail === 'merge')
  const parents = await parentsOf(
    place,
    joining.map(({ to }) => to),
  )
  const arrived = moved.flatMap((entry) => {
    const { from, to } = entry
    const above = parents.get(to) ?? []
    // A merge commit made here is the task's own, the commits that it merged are not.
    if (joining.includes(entry) && above.length > 1 && above.includes(from)) {
      ownIds.add(to)
      return above.filter((parent) => parent !== from)
    }
    return [to]
  })
  return [...new Set(arrived)].filter((commit) => !ownIds.has(commit))
}

/** The commits that were made here, with the paths that each changes. */
export async function ownCommits(
  place: PrivateDirectory,
  entries: readonly ReflogEntry[],
  most: number,
): Promise<ReadonlyMap<string, readonly PathBytes[]>> {
  const commits = commitsMade(entries).slice(-most)
  return pathsByCommit(
    place,
    commits.map((commit): [string] => [commit]),
  )
}

/** The commits that were made here. */
export function commitsMade(entries: readonly ReflogEntry[]): readonly string[] {
  const made = entries.filter(
    (entry) => entry.from !== entry.to && (isOwnReflogEntry(entry) || isReplay(entry)),
  )
  return [...new Set(made.map(({ to }) => to))]
}

const maxMade = 1_000
const maxSince = 5_000
/** Of more commits made here, a commit of others is compared with the last ones. */
const maxCopies = 50
const maxCopied = 12

/** The commits made here that a commit of others may hold. */
export interface HeldOwnCommits {
  /** It is based on these: the last ones among its ancestors. */
  readonly bases: readonly string[]
  /** Earlier ones that are no ancestors: it may be a copy of them, as a squash on a server is. */
  readonly copied: readonly string[]
}

/** The commits of others that may hold what was made here: later ones, and those that are based on it. */
export async function commitsWithOwn(
  place: PrivateDirectory,
  { from, to }: RepositoryPair,
  { entries, arrived }: { readonly entries: readonly ReflogEntry[]; readonly arrived: readonly string[] },
): Promise<ReadonlyMap<string, HeldOwnCommits>> {
  const made = new Set(commitsMade(entries).slice(-maxMade))
  if (made.size === 0) return new Map()
  const moved = new Set(entries.map((entry) => entry.to))
  const tips = to.refs?.all.filter((tip) => !moved.has(tip) && tip !== to.refs?.stash) ?? []
  // What existed at the start has nothing that was made since.
  const tipsBefore = [...(from.refs?.all ?? []), ...(from.refs?.stashes ?? []), from.head]
  const earlier = new Set(tipsBefore.filter((tip) => tip !== null))
  const others = [...arrived, ...tips].filter((commit) => !earlier.has(commit) && !made.has(commit))
  if (others.length === 0) return new Map()
  // With the commits made here: a later one of them may have merged what is based on an earlier one.
  const starts = [...others, ...made, ...[...earlier].map((tip) => `^${tip}`), '']
  const order = ['--topo-order', '--reverse', `--max-count=${maxSince}`]
  const question = ['rev-list', ...order, '--parents', '--timestamp', '--ignore-missing', '--stdin']
  const { code, output } = await runGit(question, privateCall(place, Buffer.from(starts.join('\n'))))
  if (code !== 0) return new Map()
  const commits = output
    .toString('latin1')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [seconds, commit = '', ...parents] = line.split(' ')
      return { commit, parents, at: Number(seconds) * 1_000 }
    })
  const ancestorsOf = ancestorSets(new Map(commits.map(({ commit, parents }) => [commit, parents])))
  const copies = [...new Map(entries.toReversed().map((entry) => [entry.to, entry.movedAt]))]
    .filter(([own]) => made.has(own))
    .slice(0, maxCopies)
    .map(([own, at]) => ({ own, at }))
    .toReversed()
  const bases = new Map<string, readonly string[]>()
  const held = new Map<string, HeldOwnCommits>()
  for (const { commit, parents, at } of commits) {
    const near = parents.flatMap((parent) => (made.has(parent) ? [parent] : (bases.get(parent) ?? [])))
    bases.set(commit, [...new Set(near)])
    if (made.has(commit)) continue
    const isBased = ({ own }: { readonly own: string }) =>
      near.some((base) => base === own || ancestorsOf(base).has(own))
    // Not of the same second: which of two such commits is the copy is not known, and may be the own one.
    const copied = copies
      .filter((copy) => copy.at < at && !ancestorsOf(copy.own).has(commit) && !isBased(copy))
      .map(({ own }) => own)
      .slice(-maxCopied)
    if (near.length + copied.length > 0) held.set(commit, { bases: [...new Set(near)], copied })
  }
  return held
}

function ancestorSets(
  parents: ReadonlyMap<string, readonly string[]>,
): (commit: string) => ReadonlySet<string> {
  const sets = new Map<string, ReadonlySet<string>>()
  return (commit) => {
    const known = sets.get(commit)
    if (known !== undefined) return known
    const found = new Set(parents.get(commit))
    for (const ancestor of found) for (const parent of parents.get(ancestor) ?? []) found.add(parent)
    sets.set(commit, found)
    return found
  }
}

async function parentsOf(
  place: PrivateDirectory,
  commits: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (commits.length === 0) return new Map()
  const input = Buffer.from(`${commits.join('\n')}\n`)
  const question = ['rev-list', '--no-walk=unsorted', '--parents', '--ignore-missing', '--stdin']
  const listed = (await git(question, privateCall(place, input))).toString('latin1').split('\n')
  return new Map(
    listed.filter(Boolean).map((line) => {
      const [commit = '', ...parents] = line.split(' ')
      return [commit, parents] as const
    }),
  )
}

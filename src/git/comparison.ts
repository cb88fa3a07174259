import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { IgnoredChanges } from '../track/domain/changes.ts'
import { CarefulDisk, isSameStat, rawBlobId } from './disk.ts'
import { displayPath, isIncluded, type PathBytes } from './paths.ts'
import type { PrivateDirectory } from './private-directory.ts'
import { contentPlaces } from './private-store.ts'
import type { GitEnvironment } from './process.ts'
import type {
  DiskState,
  IgnoredFile,
  OverlayEntry,
  RepositoryState,
  WorkTreeState,
} from './recorded-state.ts'
import type { GitState } from './status.ts'
import { emptyTree, type TreeDifference, treeDifference } from './trees.ts'

/** Two snapshots of one work tree. */
export interface SnapshotPair {
  readonly from: WorkTreeState
  readonly to: WorkTreeState
}

/** A repository in both snapshots. It is empty in a snapshot that does not have it. */
export interface RepositoryPair {
  readonly from: RepositoryState
  readonly to: RepositoryState
  readonly presence: 'both' | 'appeared' | 'disappeared'
}

/** A directory that reads the objects of both snapshots and can write new ones. */
export function comparisonPlace({ from, to }: SnapshotPair, environment: GitEnvironment): PrivateDirectory {
  const directory = to.repositories[0]?.directory ?? ''
  const all = [...from.repositories, ...to.repositories]
  const objects = new Set(
    all.flatMap((state) => [
      state.objects,
      join(state.directory, 'objects'),
      ...contentPlaces(state.contents),
    ]),
  )
  return {
    directory,
    top: to.top,
    index: join(directory, 'no-index'),
    objects: [...objects].filter((path) => existsSync(path)),
    environment,
  }
}

export function repositoryPairs({ from, to }: SnapshotPair): RepositoryPair[] {
  const before = new Map(from.repositories.map((state) => [state.prefix, state]))
  const after = new Map(to.repositories.map((state) => [state.prefix, state]))
  const prefixes = new Set([...before.keys(), ...after.keys()])
  return [...prefixes].flatMap((prefix): RepositoryPair[] => {
    const a = before.get(prefix)
    const b = after.get(prefix)
    if (a !== undefined && b !== undefined) return [{ from: a, to: b, presence: 'both' }]
    if (b !== undefined)
      return [{ from: emptyRepositoryState(b, from.objectFormat), to: b, presence: 'appeared' }]
    return a === undefined
      ? []
      : [{ from: a, to: emptyRepositoryState(a, to.objectFormat), presence: 'disappeared' }]
  })
}

/** Every path of interest in both snapshots, once, whether its state differs or not. */
export async function compareSnapshots(
  span: SnapshotPair,
  place: PrivateDirectory,
): Promise<Map<PathBytes, Difference>> {
  const pairs = repositoryPairs(span)
  const trees = await Promise.all(pairs.map(({ from, to }) => treeDifference(place, from.tree, to.tree)))
  const merged = new Map<PathBytes, Difference>()
  for (const [at, pair] of pairs.entries()) {
    for (const compared of comparedPaths(pair.from, pair.to, trees[at] ?? new Map())) {
      const isCompared = [span.from, span.to].every((state) => {
        return isIncluded(compared.path, state.excluded) && !isHidden(compared.path, state)
      })
      if (!isCompared) continue
      const other = merged.get(compared.path)
      merged.set(compared.path, other === undefined ? compared : combineDifferences(other, compared))
    }
  }
  return merged
}

// Files in a folder that could not be listed are not deleted.
function isHidden(path: PathBytes, { repositories }: WorkTreeState): boolean {
  return repositories.some(({ prefix, unreadable }) => {
    return unreadable?.some((folder) => path.startsWith(prefix + folder)) === true
  })
}

// If a folder became a repository or stopped being one, each end is known by another repository.
function combineDifferences(a: Difference, b: Difference): Difference {
  return {
    path: a.path,
    before: a.before ?? b.before,
    after: a.after ?? b.after,
    headBefore: a.headBefore ?? b.headBefore,
    headAfter: a.headAfter ?? b.headAfter,
    entryBefore: a.entryBefore ?? b.entryBefore,
    entryAfter: a.entryAfter ?? b.entryAfter,
  }
}

function emptyRepositoryState(like: RepositoryState, objectFormat: string): RepositoryState {
  return {
    ...like,
    head: null,
    tree: emptyTree(objectFormat),
    reflogPosition: null,
    overlay: new Map(),
    ignoredFiles: new Map(),
    ignoredFolders: [],
    submodules: [],
    operation: null,
    conflicts: [],
    suspicious: [],
  }
}

/** A path whose state on disk differs between two snapshots, from the work tree's top. */
export interface Difference {
  readonly path: PathBytes
  readonly before: DiskState | null
  readonly after: DiskState | null
  readonly headBefore: GitState | null
  readonly headAfter: GitState | null
  /** The entry in the overlay of that snapshot: different from the commit. */
  readonly entryBefore: OverlayEntry | undefined
  readonly entryAfter: OverlayEntry | undefined
}

/** Every path of either overlay or of the diff of the HEADs, with both states, changed or not. */
function* comparedPaths(
  from: RepositoryState,
  to: RepositoryState,
  trees: ReadonlyMap<PathBytes, TreeDifference>,
): Generator<Difference> {
  const paths = new Set([...trees.keys(), ...from.overlay.keys(), ...to.overlay.keys()])
  for (const path of paths) {
    const tree = trees.get(path)
    const entryBefore = from.overlay.get(path)
    const entryAfter = to.overlay.get(path)
    // If the trees agree, either overlay has the state in HEAD.
    const headBefore = tree === undefined ? ((entryBefore ?? entryAfter)?.head ?? null) : tree.before
    const headAfter = tree === undefined ? ((entryAfter ?? entryBefore)?.head ?? null) : tree.after
    yield {
      path: from.prefix + path,
      before: entryBefore === undefined ? headBefore : entryBefore.disk,
      after: entryAfter === undefined ? headAfter : entryAfter.disk,
      headBefore,
      headAfter,
      entryBefore,
      entryAfter,
    }
  }
}

export function isSameState(a: DiskState | null, b: DiskState | null): boolean {
  if (a === null || b === null) return a === b
  if (a.mode !== b.mode) return false
  if (a.oid !== null && b.oid !== null) return a.oid === b.oid
  return a.stat !== undefined && b.stat !== undefined && isSameStat(a.stat, b.stat)
}

/** Whether one is a regular file and the other a link or a submodule. */
export function isDifferentType(a: DiskState, b: DiskState): boolean {
  return a.mode.slice(0, 2) !== b.mode.slice(0, 2)
}

/** The changes to report, without those that only changed ignore rules cause. */
export interface ReconciledChanges {
  readonly differences: readonly Difference[]
  readonly ignored: IgnoredChanges
  readonly notes: readonly string[]
  /** Paths whose state could not be compared exactly, with the reason. */
  readonly uncertain: ReadonlyMap<PathBytes, string>
}

/**
 * A file that became ignored is not deleted, and one that is no longer ignored is not added. Both are recognized by
 * their content, or by their times if they were in an ignored folder that was not read.
 */
export function reconcileIgnored(span: SnapshotPair, compared: Iterable<Difference>): ReconciledChanges {
  const before = ignoredFiles(span.from)
  const after = ignoredFiles(span.to)
  const disk = new CarefulDisk(span.to.top)
  const differences: Difference[] = []
  const notes: string[] = []
  const uncertain = new Map<PathBytes, string>()
  const modified: PathBytes[] = []
  const settled = new Set<PathBytes>()
  for (const difference of compared) {
    if (isSameState(difference.before, difference.after)) continue
    const { path } = difference
    const hidden = difference.after === null ? hiddenFileAt(path, { span, after, disk }) : null
    const ignoredBefore = difference.before === null ? before.get(path) : undefined
    if (hidden !== null && difference.before !== null) {
      settled.add(path)
      notes.push(`${displayPath(path)} is ignored now; it is still on disk.`)
      if (!isMatchingState(difference.before, hidden)) modified.push(path)
    } else if (ignoredBefore !== undefined && difference.after !== null) {
      settled.add(path)
      notes.push(`${displayPath(path)} was ignored before; it existed at the start.`)
      if (!isMatchingState(difference.after, ignoredBefore))
        differences.push({ ...difference, before: stateWithoutContent(ignoredBefore) })
    } else if (difference.before === null && isInFolder(path, span.from)) {
      const file = disk.file(path)
      if (file !== null && file.stat.changed < span.from.takenAt) {
        notes.push(`${displayPath(path)} was in an ignored folder before; it existed at the start.`)
      } else {
        uncertain.set(path, 'It was in an ignored folder at the start, so it may have existed before.')
        differences.push(difference)
      }
    } else {
      const doubt = linkedTreeDoubt(difference, span)
      if (doubt !== null) uncertain.set(path, doubt)
      differences.push(difference)
    }
  }
  const bucket = compareIgnored(span, { before, after, settled })
  return {
    differences,
    ignored: { ...bucket, modified: [...bucket.modified, ...modified].map(displayPath).sort() },
    notes,
    uncertain,
  }
}

/** A linked work tree hides the files of its folder: a file that is missing in that snapshot may have existed. */
function linkedTreeDoubt({ path, before, after }: Difference, { from, to }: SnapshotPair): string | null {
  const isInside = ({ linkedWorkTrees }: WorkTreeState) =>
    linkedWorkTrees.some((folder) => path.startsWith(folder))
  if (before === null && isInside(from))
    return 'It was in a linked work tree at the start, so it may have existed before.'
  return after === null && isInside(to) ? 'It is in a linked work tree now, so it may still exist.' : null
}

interface IgnoredComparison {
  readonly span: SnapshotPair
  readonly after: ReadonlyMap<PathBytes, IgnoredFile>
  readonly disk: CarefulDisk
}

function hiddenFileAt(path: PathBytes, { span, after, disk }: IgnoredComparison): IgnoredFile | null {
  const listed = after.get(path)
  if (listed !== undefined) return listed
  if (!isInFolder(path, span.to)) return null
  const file = disk.file(path)
  if (file === null) return null
  return { mode: file.mode, oid: rawBlobId(span.to.objectFormat, span.to.top, path), stat: file.stat }
}

function compareIgnored(
  span: SnapshotPair,
  {
    before,
    after,
    settled,
  }: { before: Map<string, IgnoredFile>; after: Map<string, IgnoredFile>; settled: Set<string> },
): IgnoredChanges {
  const added = [...after.keys()].filter((path) => {
    return (
      !before.has(path) &&
      !settled.has(path) &&
      !isInFolder(path, span.from) &&
      !wasOverlayFile(path, span.from)
    )
  })
  const deleted = [...before.keys()].filter((path) => {
    return (
      !after.has(path) && !settled.has(path) && !isInFolder(path, span.to) && !wasOverlayFile(path, span.to)
    )
  })
  const modified = [...after].flatMap(([path, file]) => {
    const earlier = before.get(path)
    return earlier === undefined || isSameIgnored(earlier, file) ? [] : [path]
  })
  return { added: added.map(displayPath).sort(), modified, deleted: deleted.map(displayPath).sort() }
}

function wasOverlayFile(path: PathBytes, state: WorkTreeState): boolean {
  return state.repositories.some(({ prefix, overlay }) => {
    return path.startsWith(prefix) && overlay.get(path.slice(prefix.length))?.disk != null
  })
}

function isSameIgnored(a: IgnoredFile, b: IgnoredFile): boolean {
  return (
    a.mode === b.mode && (a.oid !== null && b.oid !== null ? a.oid === b.oid : isSameStat(a.stat, b.stat))
  )
}

function isMatchingState(state: NonNullable<Difference['before']>, file: IgnoredFile): boolean {
  if (state.oid !== null && file.oid !== null && state.oid === file.oid) return true
  return state.stat !== undefined && isSameStat(state.stat, file.stat)
}

function stateWithoutContent({ mode, oid, stat }: IgnoredFile): NonNullable<Difference['before']> {
  return { mode, oid, stat, unkept: true }
}

function ignoredFiles(state: WorkTreeState): Map<PathBytes, IgnoredFile> {
  return new Map(state.repositories.flatMap(ignoredFilesOf))
}

function ignoredFilesOf({ prefix, ignoredFiles }: RepositoryState): [PathBytes, IgnoredFile][] {
  return [...ignoredFiles].map(([path, file]) => [prefix + path, file])
}

function isInFolder(path: PathBytes, state: WorkTreeState): boolean {
  return state.repositories.some(({ prefix, ignoredFolders }) => {
    return ignoredFolders.some((folder) => path.startsWith(prefix + folder))
  })
}

import { realpathSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Snapshot, SnapshotRequest } from '../ports/work-tree.ts'
import { checksumSnapshot } from './checksum/engine.ts'
import { sameState } from './comparison.ts'
import { suspiciousKeys } from './configuration.ts'
import { contentSettingsOf, pathsToReadRaw } from './conversion.ts'
import { operationInProgress, readRefTips, reflogPosition } from './git-folder.ts'
import { doubtfulTimes, type IndexEntries, readIndexEntries } from './index-file.ts'
import { readIgnored, readOverlay } from './overlay.ts'
import {
  displayPath,
  excludedFolders,
  isAsciiPath,
  isIncluded,
  nulRecords,
  type PathBytes,
  pathBytes,
} from './paths.ts'
import { type PrivateDirectory, privateCall, writePrivateDirectory } from './private-directory.ts'
import { contentBudget, contentsFolder, keepBaseline } from './private-store.ts'
import { type Environment, type GitCall, git, runGit } from './process.ts'
import {
  latestScan,
  loadState,
  type RepositoryState,
  rememberScan,
  storeState,
  type WorkTreeState,
} from './recorded-state.ts'
import {
  findRepository,
  type Location,
  locateFolder,
  missingRepository,
  OutdatedPlace,
  type Repository,
} from './repository.ts'
import { parseStatus, type Status } from './status.ts'
import { emptyTree } from './trees.ts'

export interface SnapshotContext {
  readonly stateFolder: string
  readonly environment: Environment
  /** The most that kept contents may take, in bytes. */
  readonly budget: number
  /** Takes what goes on after the answer. */
  readonly afterwards: (work: Promise<void>) => void
}

/** Records a folder's work tree in a directory, with the engine that the request or the folder calls for. */
export async function takeSnapshot(
  request: SnapshotRequest,
  directory: string,
  context: SnapshotContext,
): Promise<Snapshot> {
  const location = await locateFolder(request.folder, context.environment)
  const repository = await repositoryFor(request, location, { directory, environment: context.environment })
  if (repository === null) return scan(location, directory, context)
  const { stateFolder, environment, budget } = context
  const recorded = await recordSnapshot(repository, {
    directory,
    stateFolder,
    environment,
    budget,
    repositoryMissing: location.engine !== 'git',
  })
  // Once the answer is out: nobody should wait for it.
  context.afterwards(
    nextTurn()
      .then(() => keepBaseline(recorded.state, environment))
      // What cannot be kept is missed only where the repository loses it as well.
      .catch(() => undefined),
  )
  const { top, prefix, head } = repository
  return {
    ref: { engine: 'git', directory, top, prefix, id: head?.commit ?? 'unborn' },
    paths: recorded.paths,
    dirty: uncommitted(recorded.state),
    notes: recorded.notes,
  }
}

function uncommitted({ repositories }: WorkTreeState): string[] {
  return repositories.flatMap(({ prefix, overlay }) =>
    [...overlay]
      .filter(([, { disk, head }]) => !sameState(disk, head))
      .map(([path]) => displayPath(prefix + path)),
  )
}

// Null where checksums are to be used. An attempt that began with git stays with it even if `.git` has gone.
async function repositoryFor(
  request: SnapshotRequest,
  location: Location,
  { directory, environment }: { readonly directory: string; readonly environment: Environment },
): Promise<Repository | null> {
  if (request.engine === 'checksum') return null
  if (location.engine === 'git') return location.repository
  if (request.engine !== 'git' || location.hasRepository) return null
  return missingRepository(request.top ?? location.folder, directory, environment)
}

async function scan(location: Location, directory: string, context: SnapshotContext): Promise<Snapshot> {
  const top = location.folder
  const reuse = await latestScan(context.stateFolder, top)
  const snapshot = await checksumSnapshot({
    top,
    prefix: '',
    directory,
    ...(reuse === undefined ? {} : { reuse }),
  })
  await rememberScan(context.stateFolder, top, directory)
  const notes =
    location.engine === 'checksum' && location.hasRepository
      ? [`${location.reason} Files are compared by checksum instead.`]
      : []
  return { ...snapshot, notes: [...notes, ...snapshot.notes] }
}

export interface SnapshotWish {
  readonly directory: string
  readonly stateFolder: string
  readonly environment: Environment
  readonly repositoryMissing: boolean
  /** The most that kept contents may take, in bytes; null to keep none. */
  readonly budget: number | null
}

export interface RecordedSnapshot {
  readonly state: WorkTreeState
  readonly paths: readonly string[]
  readonly notes: readonly string[]
}

const mostPackages = 1_000

/** Records a work tree and the repositories in it, and stores the record before it answers. */
export async function recordSnapshot(repository: Repository, wish: SnapshotWish): Promise<RecordedSnapshot> {
  const { directory, environment } = wish
  const excluded = excludedFolders(repository.top, repository.prefix, wish.stateFolder)
  const includes = (path: PathBytes) => isIncluded(path, excluded)
  const keeping = await keepingOf(repository, wish)
  const outer = await snapshotRepository(repository, {
    directory,
    environment,
    keeping,
    includes,
    prefix: '',
  })
  const nested = await snapshotNested(outer, {
    top: repository.top,
    directory,
    environment,
    keeping,
    includes,
    objects: repository.objects,
  })
  const all = [outer, ...nested.snapshots]
  const notes = [...all.flatMap((snapshot) => snapshot.notes), ...nested.notes]
  const inside = nested.snapshots.flatMap(({ paths, state }) => paths.map((path) => state.prefix + path))
  const bytes = inside.length === 0 ? outer.paths : [...outer.paths, ...inside]
  const state: WorkTreeState = {
    top: repository.top,
    prefix: pathBytes(repository.prefix),
    objectFormat: repository.objectFormat,
    takenAt: await recordedSince(directory),
    repositoryMissing: wish.repositoryMissing,
    repositories: withSubmoduleCommits(all.map((snapshot) => snapshot.state)),
    linkedWorkTrees: nested.linkedWorkTrees,
    notes,
    packageFiles: packageFiles(bytes, pathBytes(repository.prefix)),
    excluded,
  }
  await storeState(directory, state)
  if (keeping !== null) await rememberScan(wish.stateFolder, latestKey(repository.top), directory)
  // In a large tree nearly always true, and then there are 100,000 paths to leave alone.
  const ascii = all.every((snapshot) => snapshot.ascii)
  return { state, paths: ascii ? bytes : bytes.map(displayPath), notes }
}

async function keepingOf(
  { top }: Repository,
  { stateFolder, budget }: SnapshotWish,
): Promise<Keeping | null> {
  if (budget === null) return null
  const latest = await latestScan(stateFolder, latestKey(top))
  const earlier = latest === undefined ? null : await loadState(latest)
  return { stateFolder, budget, earlier: earlier?.top === top ? earlier : null }
}

// Beside the last scan without git of the same folder.
function latestKey(top: string): string {
  return `git ${top}`
}

// A submodule's state in the repository around it is the commit that is checked out in it.
function withSubmoduleCommits(states: readonly RepositoryState[]): RepositoryState[] {
  const heads = new Map(states.map(({ prefix, head }) => [prefix, head]))
  return states.map((state) => {
    const overlay = new Map(state.overlay)
    for (const [path, entry] of overlay) {
      const head = heads.get(`${state.prefix}${path}/`)
      if (entry.disk?.mode !== '160000' || entry.disk.oid !== null || !head) continue
      overlay.set(path, { ...entry, disk: { mode: '160000', oid: head } })
    }
    return { ...state, overlay }
  })
}

// By the clock that also stamps the files: it is compared with theirs.
async function recordedSince(directory: string): Promise<number> {
  return (await stat(join(directory, 'HEAD'))).mtimeMs
}

function packageFiles(paths: readonly PathBytes[], prefix: PathBytes): PathBytes[] {
  return paths
    .filter(
      (path) => path.endsWith('/package.json') && path.startsWith(prefix) && path !== `${prefix}package.json`,
    )
    .slice(0, mostPackages)
}

export interface RepositorySnapshot {
  readonly state: RepositoryState
  /** Every path on disk that is not ignored, relative to this repository's top. */
  readonly paths: readonly PathBytes[]
  /** Whether they need no decoding to be shown. */
  readonly ascii: boolean
  /** Folders that may hold repositories of their own: untracked ones, ending with `/`, and submodules. */
  readonly nested: readonly PathBytes[]
  readonly notes: readonly string[]
}

export interface Keeping {
  readonly stateFolder: string
  /** The most that contents may take, in bytes. */
  readonly budget: number
  /** The last snapshot of the same work tree: what did not change since is not read again. */
  readonly earlier: WorkTreeState | null
}

export interface SnapshotPlace {
  readonly directory: string
  readonly prefix: PathBytes
  readonly environment: Environment
  /** Where contents are kept for all snapshots of the project; null where they are not to be kept. */
  readonly keeping: Keeping | null
  readonly includes: (path: PathBytes) => boolean
}

const statusQuestion = [
  'status',
  '--porcelain=v2',
  '-z',
  '--no-renames',
  '--untracked-files=all',
  '--ignored=matching',
  '--ignore-submodules=dirty',
]

/** Records one repository, without the ones nested in it. */
async function snapshotRepository(repository: Repository, place: SnapshotPlace): Promise<RepositorySnapshot> {
  writePrivateDirectory(place.directory, repository)
  const contents =
    place.keeping === null ? null : contentsFolder(place.keeping.stateFolder, repository.objectFormat)
  const own: PrivateDirectory = {
    directory: place.directory,
    top: repository.top,
    index: repository.index,
    objects: [repository.objects],
    environment: place.environment,
    ...(contents === null ? {} : { contents }),
  }
  const [statusOutput, { index, doubtful }, settings, position, operation, refs] = await Promise.all([
    statusOf(repository, privateCall(own)),
    // Read while `status` is at work.
    readIndexEntries(own, repository.objectFormat, place.includes).then(async (index) => {
      return { index, doubtful: await doubtfulTimes(own, index.setTimes) }
    }),
    contentSettingsOf(repository, place.environment),
    reflogPosition(repository.reflog),
    operationInProgress(repository.gitFolder),
    readRefTips(repository.commonFolder),
  ])
  const status = only(parseStatus(nulRecords(statusOutput)), place.includes)
  const raw = await pathsToReadRaw(own, repository, { status, index })
  const overlay = await readOverlay(own, repository, {
    status,
    index,
    doubtful,
    raw,
    known: {
      earlier: place.keeping?.earlier?.repositories.find(({ prefix }) => prefix === place.prefix) ?? null,
      takenAt: place.keeping?.earlier?.takenAt ?? 0,
      settings,
      budget: place.keeping?.budget ?? contentBudget,
    },
  })
  const ignored = readIgnored(repository.top, repository.objectFormat, status.ignored)
  return {
    state: {
      prefix: place.prefix,
      directory: place.directory,
      gitFolder: repository.gitFolder,
      objects: repository.objects,
      reflog: repository.reflog,
      reflogPosition: position,
      head: repository.head?.commit ?? null,
      tree: repository.head?.tree ?? emptyTree(repository.objectFormat),
      refs,
      overlay: overlay.entries,
      ignoredFiles: ignored.files,
      ignoredFolders: ignored.folders,
      submodules: index.submodules,
      operation,
      conflicts: status.conflicts.map(({ path }) => path),
      suspicious: suspiciousKeys(repository.configuration),
      settings,
      leftOut: overlay.leftOut,
      ...(contents === null ? {} : { contents }),
    },
    paths: presentPaths(index, overlay.entries),
    ascii: index.ascii && status.untracked.every(isAsciiPath),
    nested: [...index.submodules, ...status.untracked.filter((path) => path.endsWith('/'))],
    notes: overlay.notes,
  }
}

async function statusOf(repository: Repository, call: GitCall): Promise<Buffer> {
  if (repository.remembered === undefined) return git(statusQuestion, call)
  const { code, output, complaint } = await runGit(statusQuestion, call)
  if (code !== 0) throw new OutdatedPlace(complaint)
  return output
}

function only(status: Status, includes: (path: PathBytes) => boolean): Status {
  return {
    tracked: status.tracked.filter(({ path }) => includes(path)),
    conflicts: status.conflicts.filter(({ path }) => includes(path)),
    untracked: status.untracked.filter(includes),
    ignored: status.ignored.filter(includes),
  }
}

function presentPaths(index: IndexEntries, overlay: RepositoryState['overlay']): readonly PathBytes[] {
  // Outside a sparse checkout: in the index, not on disk.
  const absent = new Set(index.hidden.map(({ path }) => path).filter((path) => !overlay.has(path)))
  const untracked: PathBytes[] = []
  for (const [path, entry] of overlay) {
    if (entry.disk === null) absent.add(path)
    else if (!entry.tracked) untracked.push(path)
  }
  const tracked = absent.size === 0 ? index.paths : index.paths.filter((path) => !absent.has(path))
  return untracked.length === 0 ? tracked : [...tracked, ...untracked]
}

const deepest = 4
const most = 50

export interface NestedSnapshots {
  readonly snapshots: readonly RepositorySnapshot[]
  readonly linkedWorkTrees: readonly PathBytes[]
  readonly notes: readonly string[]
}

export interface NestedPlace {
  readonly top: string
  readonly directory: string
  readonly environment: Environment
  readonly keeping: Keeping | null
  readonly includes: (path: PathBytes) => boolean
  /** The object folder of the repository around. */
  readonly objects: string
}

interface Folder {
  readonly path: PathBytes
  readonly depth: number
}

/** Records the repositories inside a work tree, level by level. Linked work trees of the same repository stay closed. */
async function snapshotNested(outer: RepositorySnapshot, place: NestedPlace): Promise<NestedSnapshots> {
  const snapshots: RepositorySnapshot[] = []
  const linkedWorkTrees: PathBytes[] = []
  const notes: string[] = []
  // Linked work trees share these.
  const known = new Set([place.objects])
  const queue = foldersOf(outer, 1)
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (next.depth > deepest || snapshots.length >= most) {
      notes.push(
        `${displayPath(next.path)} is a repository too many to look into: its files were not recorded.`,
      )
      continue
    }
    const opened = await open(next, place, known)
    if (opened.status === 'linked') linkedWorkTrees.push(next.path)
    if (opened.status === 'closed') notes.push(opened.note)
    if (opened.status === 'usable') {
      const { path } = next
      known.add(opened.objects)
      const snapshot = await snapshotRepository(opened, {
        directory: join(place.directory, 'nested', String(snapshots.length)),
        prefix: path,
        environment: place.environment,
        keeping: place.keeping,
        includes: (inner) => place.includes(path + inner),
      })
      snapshots.push(snapshot)
      queue.push(...foldersOf(snapshot, next.depth + 1))
    }
  }
  return { snapshots, linkedWorkTrees, notes }
}

function foldersOf({ state, nested }: RepositorySnapshot, depth: number): Folder[] {
  return nested.map((path) => {
    return { path: `${state.prefix}${path}${path.endsWith('/') ? '' : '/'}`, depth }
  })
}

type Opened =
  | Repository
  | { readonly status: 'linked' | 'absent' }
  | { readonly status: 'closed'; readonly note: string }

// Absent: a submodule that is not checked out.
async function open(folder: Folder, place: NestedPlace, known: ReadonlySet<string>): Promise<Opened> {
  const name = displayPath(folder.path)
  const path = realPath(join(place.top, name))
  if (path === null) return { status: 'absent' }
  const found = await findRepository(path, place.environment)
  if (found.status !== 'usable') {
    return { status: 'closed', note: `${name} was not looked into. ${found.reason}` }
  }
  if (found.top === path) return known.has(found.objects) ? { status: 'linked' } : found
  if (path.startsWith(`${found.top}/`)) return { status: 'absent' }
  return {
    status: 'closed',
    note: `${name} was not looked into: its repository's work tree is ${found.top}.`,
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

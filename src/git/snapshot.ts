import { createHash } from 'node:crypto'
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, Failure, messageOf } from '../kernel/failure.ts'
import { isWithin } from '../kernel/files/contained-file.ts'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'
import { processEnd } from '../kernel/process-end.ts'
import { type OverlayCache, readIgnored, readOverlay, unchangedFiles } from './changes-from-head.ts'
import { isSameState } from './comparison.ts'
import { suspiciousKeys } from './configuration.ts'
import {
  attributesDigest,
  type ContentSettings,
  contentSettingsOf,
  hasOutsideAttributes,
  pathsToReadRaw,
} from './conversion.ts'
import { scanFolder } from './folder-scan.ts'
import { operationInProgress, readRefTips, reflogPosition } from './git-folder.ts'
import { copyRacyIndex, indexForStatus } from './index-copy.ts'
import { doubtfulTimes, type IndexEntries, readIndexEntries } from './index-file.ts'
import { isLinkedTree } from './other-work-trees.ts'
import {
  displayPath,
  excludedFolders,
  isAsciiPath,
  isIncluded,
  nulRecords,
  type PathBytes,
  pathBytes,
} from './paths.ts'
import type { Snapshot, SnapshotEngine, SnapshotRequest, UncommittedFile } from './ports/work-tree.ts'
import { type PrivateDirectory, privateCall, writePrivateDirectory } from './private-directory.ts'
import { contentsFolder, keepBaseline } from './private-store.ts'
import { type GitCall, type GitEnvironment, gitFault, runGit } from './process.ts'
import {
  latestState,
  type RepositoryState,
  rememberLatest,
  storeState,
  type WorkTreeState,
} from './recorded-state.ts'
import {
  findRepository,
  locateFolder,
  missingRepository,
  type Repository,
  type RepositoryLocation,
  StaleRepository,
  standInRepository,
} from './repository.ts'
import { type GitStatus, parseStatus } from './status.ts'
import { emptyTree } from './trees.ts'

export interface SnapshotContext {
  readonly stateFolder: string
  readonly environment: GitEnvironment
  /** The most that kept contents may take, in bytes. */
  readonly budget: number
  /** Starts work that continues after the answer. */
  readonly afterwards: (work: () => Promise<void>) => void
}

/** A snapshot with every path that exists in the work tree (tracked and untracked, not ignored), from its top. */
export interface SnapshotWithPaths extends Snapshot {
  readonly paths: readonly string[]
}

/** Records a folder's work tree in a directory, with the engine that the request or the folder calls for. */
export async function takeSnapshot(
  request: SnapshotRequest,
  directory: string,
  context: SnapshotContext,
): Promise<SnapshotWithPaths> {
  const location = await locateFolder(request.folder, context.environment)
  const measured = await snapshotIdentity(request, location, { directory, environment: context.environment })
  const { repository, engine } = measured
  const { state, paths, notes } = await recordSnapshot(repository, {
    ...context,
    directory,
    engine,
    repositoryMissing: measured.isMissing,
  })
  // Runs after the answer, so that nobody waits for it.
  context.afterwards(() =>
    yieldToEventLoop()
      .then(() => keepBaseline(state, context.environment))
      // A failure matters only if the repository loses the trees as well.
      .catch(() => undefined),
  )
  const { top, prefix, head } = repository
  const id = engine === 'checksum' ? contentHash(state) : (head?.commit ?? 'unborn')
  return {
    ref: { engine, directory, top, prefix, id },
    paths,
    dirty: engine === 'checksum' ? [] : uncommittedPaths(state),
    notes: [...measured.notes, ...notes],
  }
}

function uncommittedPaths({ repositories }: WorkTreeState): string[] {
  return repositories.flatMap(({ prefix, overlay }) =>
    [...overlay]
      .filter(([, { disk, head }]) => !isSameState(disk, head))
      .map(([path]) => displayPath(prefix + path)),
  )
}

/** The files that differ from HEAD, without those of nested repositories. */
export function uncommittedFiles({ repositories: [own] }: WorkTreeState): readonly UncommittedFile[] {
  return [...(own?.overlay ?? [])].flatMap(([path, { disk, head, tracked, staged, index }]) => {
    const isChanged = !isSameState(disk, head)
    const isStaged = index === undefined ? staged && isChanged : index !== head?.oid
    return isChanged || isStaged ? [{ path: displayPath(path), tracked, staged: tracked && isStaged }] : []
  })
}

/** Equal for two snapshots with equal content. */
function contentHash({ repositories }: WorkTreeState): string {
  const hash = createHash('sha256')
  for (const { prefix, tree, overlay } of repositories) {
    hash.update(`${prefix} ${tree}\0`, 'latin1')
    for (const [path, { disk }] of [...overlay].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const content = disk?.oid ?? JSON.stringify(disk?.stat)
      hash.update(`${disk?.mode} ${content} ${path}\0`, 'latin1')
    }
  }
  return hash.digest('hex')
}

interface SnapshotTarget {
  readonly engine: SnapshotEngine
  readonly repository: Repository
  readonly isMissing: boolean
  readonly notes: readonly string[]
}

// An attempt keeps its engine, even if `.git` is removed or added meanwhile.
async function snapshotIdentity(
  { engine, top }: SnapshotRequest,
  location: RepositoryLocation,
  { directory, environment }: { readonly directory: string; readonly environment: GitEnvironment },
): Promise<SnapshotTarget> {
  if (location.engine === 'git' && engine !== 'checksum') {
    return { engine: 'git', repository: location.repository, isMissing: false, notes: [] }
  }
  const { folder } = location
  if (location.engine === 'checksum' && engine === 'git' && !location.hasRepository) {
    const repository = await missingRepository(top ?? folder, directory, environment)
    return { engine: 'git', repository, isMissing: true, notes: [] }
  }
  const notes =
    location.engine === 'checksum' && location.hasRepository
      ? [`${location.reason} Files are compared by checksum instead.`]
      : []
  return { engine: 'checksum', repository: standInRepository(folder, directory), isMissing: false, notes }
}

export interface SnapshotOptions {
  readonly directory: string
  readonly stateFolder: string
  readonly environment: GitEnvironment
  readonly engine: SnapshotEngine
  readonly repositoryMissing: boolean
  /** The most that kept contents may take, in bytes; null to keep none. */
  readonly budget: number | null
}

interface RecordedSnapshot {
  readonly state: WorkTreeState
  readonly paths: readonly string[]
  readonly notes: readonly string[]
}

const maxPackages = 1_000

/** Records a work tree and the repositories in it, and stores the record before it returns. */
export async function recordSnapshot(
  repository: Repository,
  request: SnapshotOptions,
): Promise<RecordedSnapshot> {
  const { directory, stateFolder, budget } = request
  const { top } = repository
  // By the clock of the file system, as it is compared with the times of files.
  const takenAt = statSync(directory).mtimeMs
  const excluded = excludedFolders(top, repository.prefix, stateFolder)
  const includes = (path: PathBytes) => isIncluded(path, excluded)
  const earlier = await latestState(stateFolder, top)
  const place = { directory, prefix: '', environment: request.environment, stateFolder, budget, includes }
  const settings = { ...place, earlier: earlier?.top === top ? earlier : null }
  const snapshotTop = request.engine === 'git' ? snapshotRepository : snapshotFolder
  const outer = await snapshotTop(repository, settings)
  const nested = await snapshotNested(outer, { ...settings, around: repository })
  const all = [withUnreadable(outer, nested.unreadable), ...nested.snapshots]
  const unreadable = [outer, ...nested.snapshots].flatMap(
    ({ state }) => state.unreadable?.map((path) => state.prefix + path) ?? [],
  )
  const notes = [
    ...all.flatMap((snapshot) => snapshot.notes),
    ...unreadable.map((path) => `${displayPath(path)} could not be read.`),
    ...nested.notes,
  ]
  const inside = nested.snapshots.flatMap(({ paths, state }) => paths.map((path) => state.prefix + path))
  const bytes = inside.length === 0 ? outer.paths : [...outer.paths, ...inside]
  const state: WorkTreeState = {
    top,
    prefix: pathBytes(repository.prefix),
    objectFormat: repository.objectFormat,
    takenAt,
    repositoryMissing: request.repositoryMissing,
    repositories: withSubmoduleCommits(all.map((snapshot) => snapshot.state)),
    linkedWorkTrees: [...(outer.linked ?? []), ...nested.linkedWorkTrees],
    notes,
    packageFiles: packageFiles(bytes, pathBytes(repository.prefix)),
    excluded,
  }
  storeState(directory, state)
  if (budget !== null) rememberLatest(stateFolder, top, directory)
  // Nearly always true, and it saves decoding 100,000 paths in a large tree.
  const ascii = all.every((snapshot) => snapshot.ascii)
  return { state, paths: ascii ? bytes : bytes.map(displayPath), notes }
}

function withUnreadable(outer: RepositorySnapshot, folders: readonly PathBytes[]): RepositorySnapshot {
  if (folders.length === 0) return outer
  return { ...outer, state: { ...outer.state, unreadable: [...(outer.state.unreadable ?? []), ...folders] } }
}

// A submodule's state in its parent repository is its checked-out commit.
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

function packageFiles(paths: readonly PathBytes[], prefix: PathBytes): PathBytes[] {
  return paths
    .filter(
      (path) => path.endsWith('/package.json') && path.startsWith(prefix) && path !== `${prefix}package.json`,
    )
    .slice(0, maxPackages)
}

interface RepositorySnapshot {
  readonly state: RepositoryState
  /** Every path on disk that is not ignored, relative to this repository's top. */
  readonly paths: readonly PathBytes[]
  /** Whether the paths can be displayed without decoding. */
  readonly ascii: boolean
  /** Folders that may hold repositories of their own: untracked ones, ending with `/`, and submodules. */
  readonly nested: readonly PathBytes[]
  /** Linked work trees that were found without git, ending with `/`. */
  readonly linked?: readonly PathBytes[]
  readonly notes: readonly string[]
}

interface SnapshotSettings {
  readonly directory: string
  readonly prefix: PathBytes
  readonly environment: GitEnvironment
  readonly stateFolder: string
  /** The most that contents of all snapshots of the project may take, in bytes; null if none are kept. */
  readonly budget: number | null
  /** The last snapshot of the same work tree: unchanged files are not read again. */
  readonly earlier: WorkTreeState | null
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
async function snapshotRepository(
  repository: Repository,
  place: SnapshotSettings,
): Promise<RepositorySnapshot> {
  const own = privatePlace(repository, place)
  const running = statusOf(repository, statusCall(own, repository))
  // Everything else is read while `status` runs.
  const settings = contentSettingsOf(repository, place.environment)
  const position = reflogPosition(repository.reflog)
  const [statusAnswer, { index, doubtful }, unchanged, operation, refs, isNamedOutside] = await Promise.all([
    running,
    readIndexEntries(own, repository.objectFormat, place.includes).then(async (index) => {
      return { index, doubtful: await doubtfulTimes(own, index.setTimes) }
    }),
    unchangedFiles(repository.top, overlayCache(place, settings)),
    operationInProgress(repository.gitFolder),
    readRefTips(repository.commonFolder),
    hasOutsideAttributes(own, repository),
  ])
  if (own.index === repository.index) copyRacyIndex(place.stateFolder, own.index, index.racyBytes)
  const status = filterStatus(parseStatus(nulRecords(statusAnswer.output)), place.includes)
  const attributes = attributesDigest(own, { status, index })
  const isComparable = attributes !== null && attributes === earlierState(place)?.attributes
  const raw = await pathsToReadRaw(own, { status, index, isNamedOutside })
  const overlay = await readOverlay(own, repository, {
    status,
    index,
    doubtful,
    raw,
    cache: overlayCache(place, settings),
    unchanged: isComparable ? unchanged : new Map(),
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
      attributes,
      leftOut: overlay.leftOut,
      ...(statusAnswer.unreadable.length === 0 ? {} : { unreadable: statusAnswer.unreadable }),
      ...(own.contents === undefined ? {} : { contents: own.contents }),
    },
    paths: presentPaths(index, overlay.entries),
    ascii: index.ascii && status.untracked.every(isAsciiPath),
    nested: [...index.submodules, ...status.untracked.filter((path) => path.endsWith('/'))],
    notes: overlay.notes,
  }
}

/** Only a copy of the index may be refreshed. */
function statusCall(own: PrivateDirectory, { index }: Repository): GitCall {
  const call = privateCall(own)
  if (own.index === index) return call
  return { ...call, environment: { ...call.environment, GIT_OPTIONAL_LOCKS: '1' } }
}

/** Writes the private directory for a repository. */
function privatePlace(repository: Repository, place: SnapshotSettings): PrivateDirectory {
  const { directory, environment, stateFolder, budget } = place
  const { top, index, objects, objectFormat } = repository
  writePrivateDirectory(directory, repository)
  const contents = budget === null ? {} : { contents: contentsFolder(stateFolder, objectFormat) }
  return {
    directory,
    top,
    index: indexForStatus(stateFolder, index),
    objects: [objects],
    environment,
    ...contents,
  }
}

interface StatusAnswer {
  readonly output: Buffer
  readonly unreadable: readonly PathBytes[]
}

async function statusOf(repository: Repository, call: GitCall): Promise<StatusAnswer> {
  const answer = await runGit(statusQuestion, call)
  if (answer.code !== 0) {
    if (repository.remembered !== undefined) throw new StaleRepository(answer.stderr)
    throw gitFault(statusQuestion, answer, call)
  }
  const warnings = answer.stderr.matchAll(/^warning: could not open directory '(.*?)\/?': /gm)
  return { output: answer.output, unreadable: [...warnings].map(([, path = '']) => `${pathBytes(path)}/`) }
}

/** The cache from the earlier snapshot of a repository; empty if settings that affect contents changed. */
function overlayCache(place: SnapshotSettings, settings: ContentSettings): OverlayCache {
  const earlierRepository = earlierState(place)
  const isSame =
    earlierRepository !== undefined && JSON.stringify(earlierRepository.settings) === JSON.stringify(settings)
  const { earlier, budget } = place
  return { earlier: isSame ? earlierRepository.overlay : new Map(), takenAt: earlier?.takenAt ?? 0, budget }
}

function earlierState({ earlier, prefix }: SnapshotSettings): RepositoryState | undefined {
  return earlier?.repositories.find((state) => state.prefix === prefix)
}

/** Records a folder without a repository, as if it had a repository without commits. */
async function snapshotFolder(repository: Repository, place: SnapshotSettings): Promise<RepositorySnapshot> {
  const own = privatePlace(repository, place)
  const scan = await scanFolder(own, place.includes, overlayCache(place, {}))
  const { overlay, ignored, unreadable, linked } = scan
  return {
    state: {
      prefix: place.prefix,
      directory: place.directory,
      gitFolder: repository.gitFolder,
      objects: repository.objects,
      reflog: repository.reflog,
      reflogPosition: null,
      head: null,
      tree: emptyTree(repository.objectFormat),
      refs: null,
      overlay,
      ignoredFiles: ignored.files,
      ignoredFolders: ignored.folders,
      submodules: [],
      operation: null,
      conflicts: [],
      suspicious: [],
      settings: {},
      ...(unreadable.length === 0 ? {} : { unreadable }),
      ...(own.contents === undefined ? {} : { contents: own.contents }),
    },
    paths: [...overlay.keys()],
    ascii: [...overlay.keys()].every(isAsciiPath),
    nested: [],
    linked,
    notes: [],
  }
}

function filterStatus(status: GitStatus, includes: (path: PathBytes) => boolean): GitStatus {
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

interface NestedSnapshots {
  readonly snapshots: readonly RepositorySnapshot[]
  readonly linkedWorkTrees: readonly PathBytes[]
  /** Folders that were not read, ending with `/`. */
  readonly unreadable: readonly PathBytes[]
  readonly notes: readonly string[]
}

interface NestedSnapshotSettings extends SnapshotSettings {
  readonly around: Repository
}

interface SnapshotFolder {
  readonly path: PathBytes
  readonly depth: number
}

/**
 * Records the repositories inside a work tree, level by level. Linked work trees of the same repository are skipped. A
 * folder that only looks like a repository is read file by file: git would skip it.
 */
async function snapshotNested(
  outer: RepositorySnapshot,
  place: NestedSnapshotSettings,
): Promise<NestedSnapshots> {
  const snapshots: RepositorySnapshot[] = []
  const linkedWorkTrees: PathBytes[] = []
  const unreadable: PathBytes[] = []
  const notes: string[] = []
  // Linked work trees share these.
  const knownObjects = new Set([place.around.objects])
  const queue = foldersOf(outer, 1)
  let tried = 0
  const visit = async (folder: SnapshotFolder) => {
    const { path, depth } = folder
    const repository = await openNestedRepository(folder, place, knownObjects)
    if (repository.status === 'absent') return
    if (repository.status === 'linked') {
      linkedWorkTrees.push(path)
      return
    }
    if (repository.status === 'unreadable' || depth > deepest || snapshots.length >= most) {
      unreadable.push(path)
      return
    }
    tried += 1
    const inside = {
      ...place,
      directory: join(place.directory, 'nested', String(tried)),
      prefix: path,
      includes: (inner: PathBytes) => place.includes(path + inner),
    }
    const { snapshot, note } = await snapshotInside(repository, inside)
    if (repository.status === 'usable') knownObjects.add(repository.objects)
    else notes.push(repository.note)
    if (note !== undefined) notes.push(note)
    snapshots.push(snapshot)
    queue.push(...foldersOf(snapshot, depth + 1))
  }
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    try {
      await visit(next)
    } catch (error) {
      if (error instanceof Failure || error instanceof StaleRepository || processEnd.aborted) throw error
      // It was removed or moved while it was read.
      if (realPath(join(place.around.top, displayPath(next.path))) !== null) unreadable.push(next.path)
    }
  }
  return { snapshots, linkedWorkTrees, unreadable, notes }
}

function foldersOf({ state, nested }: RepositorySnapshot, depth: number): SnapshotFolder[] {
  return nested.map((path) => {
    return { path: `${state.prefix}${path}${path.endsWith('/') ? '' : '/'}`, depth }
  })
}

/** Records a nested repository, file by file if git cannot read it. */
async function snapshotInside(
  repository: Repository | ClosedRepository,
  place: NestedSnapshotSettings,
): Promise<{ readonly snapshot: RepositorySnapshot; readonly note?: string }> {
  if (repository.status === 'closed') return { snapshot: await snapshotWithoutRepository(repository, place) }
  try {
    return { snapshot: await snapshotRepository(repository, place) }
  } catch (error) {
    if (error instanceof StaleRepository || processEnd.aborted) throw error
    const closed = closedRepository(displayPath(place.prefix), repository.top, messageOf(error))
    const again = { ...place, directory: `${place.directory}-files` }
    return { snapshot: await snapshotWithoutRepository(closed, again), note: closed.note }
  }
}

/** Records every file as untracked, by the settings of the outer repository. */
function snapshotWithoutRepository(
  { path }: ClosedRepository,
  place: NestedSnapshotSettings,
): Promise<RepositorySnapshot> {
  const { objectFormat, configuration } = place.around
  const repository = { ...standInRepository(path, place.directory), objectFormat, configuration }
  return snapshotRepository(repository, place)
}

interface ClosedRepository {
  readonly status: 'closed'
  /** On disk. */
  readonly path: string
  readonly note: string
}

type NestedRepository =
  | Repository
  | ClosedRepository
  | { readonly status: 'linked' }
  | { readonly status: 'absent' }
  | { readonly status: 'unreadable' }

// Absent: a submodule that is not checked out.
async function openNestedRepository(
  folder: SnapshotFolder,
  place: NestedSnapshotSettings,
  knownObjects: ReadonlySet<string>,
): Promise<NestedRepository> {
  const name = displayPath(folder.path)
  // git can only be started in a folder whose name is valid text.
  if (pathBytes(name) !== folder.path) return { status: 'unreadable' }
  const path = join(place.around.top, name).replace(/[/\\]$/, '')
  // A link or a file at this path is a change by itself.
  if (realPath(path) !== path || isEmptyFolder(path)) return { status: 'absent' }
  const repository = await findRepository(path, place.environment).catch((error: unknown) => {
    if (!(error instanceof Failure) || processEnd.aborted) throw error
    return { status: 'unusable', reason: error.message } as const
  })
  if (repository.status !== 'usable') return closedRepository(name, path, repository.reason)
  if (repository.top !== path) {
    const reason = isWithin(repository.top, path) ? 'It has none' : `Its work tree is ${repository.top}`
    return closedRepository(name, path, `${reason}.`)
  }
  if (repository.objectFormat !== place.around.objectFormat) {
    return closedRepository(name, path, `Its objects have the format ${repository.objectFormat}.`)
  }
  if (!knownObjects.has(repository.objects)) return repository
  return (await isLinkedTree(repository))
    ? { status: 'linked' }
    : closedRepository(name, path, 'It belongs to a repository around it.')
}

function closedRepository(name: string, path: string, reason: string): ClosedRepository {
  return { status: 'closed', path, note: `git cannot read ${name} as a repository. ${reason}` }
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0
  } catch (error) {
    return errorCode(error) === 'ENOTDIR'
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

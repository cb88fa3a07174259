import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readRegular } from '../kernel/files/regular-file.ts'
import type { ContentSettings } from './conversion.ts'
import type { RefTips } from './git-folder.ts'
import { diskPath, displayPath, type PathBytes, pathBytes } from './paths.ts'
import type { Packages, SnapshotRef } from './ports/work-tree.ts'
import type { GitState } from './status.ts'

/** The parts of a file's stat that show later whether the file changed. Times in milliseconds. */
export interface FileStat {
  readonly size: number
  readonly modified: number
  readonly changed: number
}

/** Contents of larger files are not kept. */
export const maxKeptFileBytes = 5 * 1024 * 1024

/** A path's state on disk. `oid` is null if the content was too large to hash: then `stat` stands for it. */
export interface DiskState {
  readonly mode: string
  readonly oid: string | null
  readonly stat?: FileStat
  /** The id is known, the content was not kept. */
  readonly unkept?: true
}

/** A path whose state on disk differs from HEAD. */
export interface OverlayEntry {
  readonly head: GitState | null
  readonly disk: DiskState | null
  /** In the index or in HEAD; otherwise untracked. */
  readonly tracked: boolean
  /** The index holds the same as the disk. */
  readonly staged: boolean
  /** The content in the index, if it differs from HEAD and the disk. */
  readonly index?: string
  /** Why the state may not be what git would store. */
  readonly uncertain?: string
}

export interface IgnoredFile {
  readonly mode: string
  readonly oid: string | null
  readonly stat: FileStat
}

/** The tail of HEAD's reflog when the snapshot was taken. */
export interface ReflogPosition {
  readonly size: number
  /** The last bytes before `size`, to notice that the log was rewritten. */
  readonly tail: string
}

export interface OperationInProgress {
  readonly name: string
  /** The commits being merged. */
  readonly commits: readonly string[]
  /** The commits being picked. Missing for a merge, and in records of earlier versions. */
  readonly picked?: readonly string[]
}

/** One repository at the time of a snapshot: the work tree's own, or a nested one. */
export interface RepositoryState {
  /** From the work tree's top: `''`, or ending with `/`. */
  readonly prefix: PathBytes
  /** Its private directory. */
  readonly directory: string
  readonly gitFolder: string
  readonly objects: string
  readonly reflog: string
  readonly reflogPosition: ReflogPosition | null
  readonly head: string | null
  readonly tree: string
  /** Null when they could not be read. */
  readonly refs: RefTips | null
  readonly overlay: ReadonlyMap<PathBytes, OverlayEntry>
  readonly ignoredFiles: ReadonlyMap<PathBytes, IgnoredFile>
  readonly ignoredFolders: readonly PathBytes[]
  readonly submodules: readonly PathBytes[]
  readonly operation: OperationInProgress | null
  readonly conflicts: readonly PathBytes[]
  /** Folders that could not be listed, ending with `/`: their changes are unknown. */
  readonly unreadable?: readonly PathBytes[]
  /** Keys of its configuration that name programs, with a digest of their values. */
  readonly suspicious: readonly string[]
  /** Missing in records of earlier versions. */
  readonly settings?: ContentSettings
  /** A digest of the attributes files in the work tree; null if one could not be read. */
  readonly attributes?: string | null
  /** A digest of the paths that a sparse checkout leaves out. Missing in records of earlier versions. */
  readonly leftOut?: string
  /** The folder of its contents. Missing if they are in its directory, as in earlier versions. */
  readonly contents?: string
}

/** The content of a snapshot. Stored in its private directory, so that any process can compare it later. */
export interface WorkTreeState {
  readonly top: string
  readonly prefix: string
  readonly objectFormat: string
  /** When it began, in milliseconds, by the clock of the file system. */
  readonly takenAt: number
  /** The repository disappeared after an attempt had begun with git. */
  readonly repositoryMissing: boolean
  /** The first is the work tree's own. */
  readonly repositories: readonly RepositoryState[]
  /** Linked work trees inside this one, which are never opened. */
  readonly linkedWorkTrees: readonly PathBytes[]
  readonly notes: readonly string[]
  /** Every `package.json` below the project's folder, from the top. */
  readonly packageFiles: readonly PathBytes[]
  /** Top-level paths that are Waymark's own. */
  readonly excluded: readonly PathBytes[]
}

const fileName = 'snapshot.json'
const version = 1

interface StoredRepository extends Omit<RepositoryState, 'overlay' | 'ignoredFiles'> {
  readonly overlay: readonly (readonly [string, OverlayEntry])[]
  readonly ignoredFiles: readonly (readonly [string, IgnoredFile])[]
}

interface StoredState extends Omit<WorkTreeState, 'repositories'> {
  readonly version: number
  readonly repositories: readonly StoredRepository[]
}

/** Writes a snapshot whole or not at all. Synchronous: everything waits for it, and it is faster. */
export function storeState(directory: string, state: WorkTreeState): void {
  const stored: StoredState = {
    ...state,
    version,
    repositories: state.repositories.map((repository) => ({
      ...repository,
      overlay: [...repository.overlay],
      ignoredFiles: [...repository.ignoredFiles],
    })),
  }
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeWhole(join(directory, fileName), JSON.stringify(stored))
  remember(directory, state)
}

/** Reads a snapshot. Null if it is gone or was written by another version. */
export async function loadState(directory: string): Promise<WorkTreeState | null> {
  const cached = remembered.get(directory)
  if (cached !== undefined && cached.stamp === stampAt(join(directory, fileName))) return cached.state
  let stored: StoredState
  try {
    // Written by `storeState` alone, in a directory that only this user can enter.
    stored = JSON.parse(await readFile(join(directory, fileName), 'utf8')) as StoredState
  } catch {
    return null
  }
  if (stored.version !== version) return null
  const state: WorkTreeState = {
    ...stored,
    repositories: stored.repositories.map((repository) => ({
      ...repository,
      overlay: new Map(repository.overlay),
      ignoredFiles: new Map(repository.ignoredFiles),
    })),
  }
  remember(directory, state)
  return state
}

interface CachedState {
  readonly state: WorkTreeState
  readonly stamp: string
  readonly size: number
}

/** The most paths of all cached snapshots together. */
const maxRemembered = 50_000
const remembered = new Map<string, CachedState>()

function remember(directory: string, state: WorkTreeState): void {
  const stamp = stampAt(join(directory, fileName))
  if (stamp === null) return
  const size = state.repositories.reduce(
    (sum, { overlay, ignoredFiles }) => sum + overlay.size + ignoredFiles.size,
    100,
  )
  remembered.delete(directory)
  remembered.set(directory, { state, stamp, size })
  let total = [...remembered.values()].reduce((sum, one) => sum + one.size, 0)
  for (const [oldest, one] of remembered) {
    if (total <= maxRemembered) break
    remembered.delete(oldest)
    total -= one.size
  }
}

function stampAt(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.ino} ${stats.size} ${stats.mtimeMs}`
}

function writeWhole(path: string, content: string): void {
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, content, { mode: 0o600 })
  renameSync(draft, path)
}

/** The last snapshot of a top by one engine, so that unchanged files are not read again. Null if there is none. */
export async function latestState(stateFolder: string, key: string): Promise<WorkTreeState | null> {
  const path = pointer(stateFolder, key)
  const directory = latest.get(path) ?? (await readFile(path, 'utf8').catch(() => null))
  return directory === null ? null : loadState(directory)
}

export function rememberLatest(stateFolder: string, key: string, directory: string): void {
  const path = pointer(stateFolder, key)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeWhole(path, directory)
  latest.set(path, directory)
}

// A newer snapshot by another process is no better, and this process has its own in memory.
const latest = new Map<string, string>()

function pointer(stateFolder: string, key: string): string {
  return join(stateFolder, 'scans', createHash('sha256').update(key).digest('hex').slice(0, 32))
}

/** Workspace packages of the project that a snapshot was made of. */
export async function workspacePackages(place: SnapshotRef): Promise<Packages> {
  const state = await loadState(place.directory)
  if (state === null) return []
  const packages = new Map<string, string>()
  const prefix = pathBytes(place.prefix)
  for (const path of state.packageFiles) {
    const name = await packageName(diskPath(state.top, path))
    if (name !== null) packages.set(name, dirname(displayPath(path.slice(prefix.length))))
  }
  return [...packages]
}

async function packageName(path: string | Buffer): Promise<string | null> {
  try {
    const manifest: unknown = JSON.parse((await readRegular(path)).toString('utf8'))
    if (typeof manifest !== 'object' || manifest === null || !('name' in manifest)) return null
    return typeof manifest.name === 'string' ? manifest.name : null
  } catch {
    return null
  }
}

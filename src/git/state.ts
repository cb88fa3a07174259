import type { ContentSettings } from './content-settings.ts'
import type { PathBytes } from './path-bytes.ts'
import type { RefTips } from './ref-tips.ts'
import type { GitState } from './status.ts'

/** Enough of a file's stat to say later that it is the same file, unchanged. Times in milliseconds. */
export interface FileStat {
  readonly size: number
  readonly modified: number
  readonly changed: number
}

/** A path's state on disk. `oid` is null where the content was too much to hash: then `stat` stands for it. */
export interface DiskState {
  readonly mode: string
  readonly oid: string | null
  readonly stat?: FileStat
  /** The id is known, the content was not kept. */
  readonly unkept?: true
}

/** A path whose state on disk is not simply HEAD's. */
export interface OverlayEntry {
  readonly head: GitState | null
  readonly disk: DiskState | null
  /** In the index or in HEAD; otherwise untracked. */
  readonly tracked: boolean
  /** The index holds the same as the disk. */
  readonly staged: boolean
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
  /** What is being merged or picked. */
  readonly commits: readonly string[]
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
  /** Keys of its configuration that name programs, with a digest of their values. */
  readonly suspicious: readonly string[]
  /** Missing in what earlier versions recorded. */
  readonly settings?: ContentSettings
  /** Stands for the paths that a sparse checkout leaves out. Missing in what earlier versions recorded. */
  readonly leftOut?: string
  /** Where its contents are kept. Missing where they are in its directory, as earlier versions kept them. */
  readonly contents?: string
}

/** Everything a snapshot knows. Stored in its private directory, so that any process can compare it later. */
export interface WorkTreeState {
  readonly top: string
  readonly prefix: string
  readonly objectFormat: string
  /** When it began, in milliseconds, by the clock of the file system. */
  readonly takenAt: number
  /** The repository was gone although an attempt had begun with git. */
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

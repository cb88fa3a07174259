import type { MeasuredLines } from '../../lines/domain/line-hashes.ts'
import type { LineHistory } from '../../lines/ports/line-history.ts'
import type { ChangeReport } from '../../track/domain/changes.ts'
import type { AreaCount, AreaOverlap } from '../../track/domain/scope/survey.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import type { TreeLosses } from '../../track/domain/tree-losses.ts'
import type { Branch, BranchRequest } from './branch.ts'

export type SnapshotEngine = SnapshotLocation['engine']

/** Where a recorded snapshot lives. Stored with the attempt; everything else is read from the directory. */
export type SnapshotRef = SnapshotLocation

export interface Snapshot {
  readonly ref: SnapshotRef
  /** Paths among them that are not as committed, from the top; empty where checksums are used. */
  readonly dirty: readonly string[]
  /** Why the checksum engine was used although there is a repository, or what to know about this snapshot. */
  readonly notes: readonly string[]
}

export interface SnapshotRequest {
  /** Absolute path of the folder to witness: any folder of a work tree. */
  readonly folder: string
  /** Names the snapshot's private directory: unique, `[a-z0-9-]+`. */
  readonly name: string
  /** The engine an attempt began with, so that its end is measured in the same way. */
  readonly engine?: SnapshotEngine
  /** The work tree's top that an attempt began with, so that its end is measured even if `.git` has gone meanwhile. */
  readonly top?: string
}

/** A work tree's content at one time. */
export interface TreeContent {
  readonly hash: string
  /** Of each file that the hash is of, a text that changes whenever it is written, though its content and times return. */
  readonly stamps: readonly (readonly [path: string, stamp: string])[]
}

/** Why the lines of a changed file are not in a diff. */
export const leftOutReasons = [
  'secret',
  'too_large',
  'not_kept',
  'no_longer_kept',
  'repository',
  'special',
  'no_git',
] as const

export interface OmittedFile {
  readonly path: string
  readonly why: (typeof leftOutReasons)[number]
}

export interface UnifiedDiff {
  readonly text: string
  /** Changed files that the text only names. */
  readonly leftOut: readonly OmittedFile[]
}

/** The areas of an attempt, from its project's folder. */
export interface DeclaredAreas {
  readonly areas: readonly string[]
  /** From the work tree's top to the project's folder. */
  readonly prefix: string
}

/** Workspace packages: name and folder, relative to the project. */
export type Packages = readonly (readonly [name: string, folder: string])[]

/** What is common to the work trees of one repository, so that all of them are one project. */
export interface WorkTreeLocation {
  /** The work tree's top, or the folder itself where there is no usable git. */
  readonly top: string
  /** The top of the main work tree (the same for every linked one). */
  readonly mainTop: string
  readonly engine: SnapshotEngine
  /** Why git is not usable here, as a sentence. Only with the checksum engine. */
  readonly reason?: string
}

export interface LineMeasureOptions {
  /** What the hashes of the project's lines begin with. */
  readonly salt: string
  /** Whether an attempt was open in between: what git brought is judged by it. */
  readonly during: 'attempt' | 'gap'
  /** The contents that paths went through, by their ids: each becomes a step of its own where they are all there. */
  readonly chains?: readonly PathChain[]
}

export interface PathChain {
  readonly path: string
  /** From what the first snapshot has to what the second one has. */
  readonly contents: readonly (string | null)[]
}

/** A file as a snapshot has it. */
export interface FileState {
  /** The id of its content as git stores it; null where the snapshot did not keep it. */
  readonly id: string | null
  /** The id of a content that is not kept, where it is known: of a secret file, or a large one. */
  readonly hash?: string | undefined
  /** As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a submodule. */
  readonly mode: string
}

/** Null where it is longer than was asked for. */
export interface StoredContent {
  readonly bytes: Uint8Array | null
  readonly size: number
}

/** What files held at the hook events of which snapshots were made. */
export interface SnapshotContents {
  /** What stood at paths; null for no file. What is not known is left out. Null where the snapshot is gone. */
  states(place: SnapshotRef, paths: readonly string[]): Promise<ReadonlyMap<string, FileState | null> | null>
  /**
   * What git came to hold of paths since an earlier snapshot that is neither what it held then nor what is on disk; null
   * for nothing. Null altogether where the snapshot is gone.
   */
  held(
    from: SnapshotRef,
    place: SnapshotRef,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, string | null> | null>
  /**
   * Contents by their ids, out of all that these snapshots reach; or only of what Waymark itself kept, which is never a
   * secret file. What is gone is left out.
   */
  read(
    places: readonly SnapshotRef[],
    ids: readonly string[],
    most: number,
    source?: 'all' | 'kept',
  ): Promise<ReadonlyMap<string, StoredContent>>
}

/** The witness: measures a work tree, never changes it and never runs what its repository configures. */
export interface WorkTreeWitness {
  /** Fails with UNAVAILABLE for a bare repository, `$HOME`, `/` or a folder that does not exist. */
  locate(folder: string): Promise<WorkTreeLocation>
  /** The tops of the other work trees of the same repository, those that exist. */
  others(folder: string): Promise<readonly string[]>
  /** Records the state of the work tree. */
  snapshot(request: SnapshotRequest): Promise<Snapshot>
  /** What differs between two snapshots of one work tree. A lost snapshot answers `unknown`, never "no changes". */
  changes(from: SnapshotRef, to: SnapshotRef): Promise<ChangeReport>
  /** Where lines went and came, without their text. `null` when it cannot be known. */
  lines(from: SnapshotRef, to: SnapshotRef, request: LineMeasureOptions): Promise<MeasuredLines | null>
  /** What git knows of the lines of a file. */
  readonly history: LineHistory
  readonly contents: SnapshotContents
  /** What stands between two commits. Fails with INVALID_INPUT where git cannot say it. */
  branch(request: BranchRequest): Promise<Branch>
  /** The paths that differ, without renames and lines: cheap. `null` when it cannot be known. */
  touched(from: SnapshotRef, to: SnapshotRef): Promise<readonly string[] | null>
  /** The unified diff between two snapshots, of some paths (old or new names) when given. `null` when a snapshot is gone. */
  unifiedDiff(from: SnapshotRef, to: SnapshotRef, paths?: readonly string[]): Promise<UnifiedDiff | null>
  /** How many files each area matches in a snapshot that was just taken: tracked and untracked ones, not the ignored. */
  matching(place: SnapshotRef, areas: readonly string[]): Promise<readonly AreaCount[]>
  /** Which areas meet those of others, in one of these files or by what they say; in the order of the others. */
  overlapping(
    place: SnapshotRef,
    areas: readonly string[],
    others: readonly DeclaredAreas[],
  ): Promise<readonly (readonly AreaOverlap[])[]>
  /** Workspace packages of the project that a snapshot was made of. */
  packages(place: SnapshotRef): Promise<Packages>
  /**
   * The hash of the content of every file in a work tree (tracked and untracked, not ignored, without `.waymark` except
   * its processes): equal for equal content, whatever is committed. Fails as `snapshot` does.
   */
  treeHash(folder: string): Promise<string>
  /** The same hash, and what tells whether a file was touched since. */
  content(folder: string): Promise<TreeContent>
  /** Ends what goes on after an answer (keeping the baseline's trees). Call before the process exits. */
  settle(): Promise<void>
  /** Removes private directories older than 24 hours that no kept reference names. Answers how many. */
  sweep(keep: readonly SnapshotRef[]): Promise<number>
}

/** A work tree of the repository besides its main one. */
export interface LinkedTree {
  /** Its top, absolute. */
  readonly path: string
  /** The branch that is checked out, `task-1`; null when it is on none. */
  readonly branch: string | null
  readonly head: string | null
  /** The task it was made for, null when Waymark did not make it. */
  readonly taskId: string | null
  /** Whether its folder is still there. */
  readonly exists: boolean
}

export interface NewWorkTreeRequest {
  /** Any folder of the repository. */
  readonly folder: string
  /** Where to make it, absolute. */
  readonly path: string
  readonly branch: string
  /** The commit to begin at, in git's words; the folder's own when left out. */
  readonly from?: string | undefined
  readonly taskId: string
}

export interface NewWorkTree extends LinkedTree {
  /** What was not done in it. */
  readonly notes: readonly string[]
}

/** Makes and removes work trees. The only port that writes to a user's repository, and it runs nothing of it. */
export interface LinkedTrees {
  /** The trees that were made for a task, cheaply: no git is run. */
  bound(folder: string): Promise<readonly { readonly path: string; readonly taskId: string }[]>
  list(folder: string): Promise<readonly LinkedTree[]>
  /** Fails with a sentence, and leaves nothing behind then. */
  add(tree: NewWorkTreeRequest): Promise<NewWorkTree>
  /** What would be lost with a tree. */
  losses(folder: string, tree: LinkedTree): Promise<TreeLosses>
  /** Refuses, naming it, where work would be lost: files that are not committed, commits that are on nothing else. */
  remove(folder: string, tree: LinkedTree): Promise<void>
  /** Removes it whatever is lost, and answers what was. */
  discard(folder: string, tree: LinkedTree): Promise<TreeLosses>
}

/** A copy of a file that a hook made. */
export interface FileCopy {
  /** Of the file, from the work tree's top. */
  readonly path: string
  /** Absolute path of the copy. */
  readonly copy: string
}

/** What stood at a path: the id of its content as git stores it, null for no file, undefined where it is not known. */
export interface ContentAt {
  readonly id: string | null | undefined
  /** When it was last changed, in milliseconds by the clock of the file system; null where that was not looked at. */
  readonly changedAt: number | null
}

/** A step of a file's history: who made what of it. */
export interface HistoryStep {
  readonly by: string
  readonly before: string | null
  readonly after: string | null
  /** Only white space differs: the lines keep their owners. */
  readonly reformats?: true
}

export interface OwnLines {
  readonly added: number
  readonly deleted: number
}

/** Files as they were between two snapshots, from the copies that hooks made of them. */
export interface FileCopies {
  /** Takes copies in, and answers the ids of their contents; null for one that cannot be read. */
  keep(place: SnapshotRef, copies: readonly FileCopy[]): Promise<readonly (string | null)[]>
  /** What stood at paths in a snapshot; empty where the snapshot is gone. */
  contents(place: SnapshotRef, paths: readonly string[]): Promise<ReadonlyMap<string, ContentAt>>
  /** The same snapshot, with some files as they were at another moment. Null where it is gone. */
  amended(
    place: SnapshotRef,
    name: string,
    files: ReadonlyMap<string, string | null>,
  ): Promise<SnapshotRef | null>
  /** The lines of a file that each made and removed, from its first state to its last. Null where contents are gone. */
  linesOf(place: SnapshotRef, steps: readonly HistoryStep[]): Promise<ReadonlyMap<string, OwnLines> | null>
}

import type { MeasuredLines } from '../../lines/domain/line-hashes.ts'
import type { ConflictReason, StayingLines, UndoneFile } from '../../lines/domain/undo-file.ts'
import type { LineHistory } from '../../lines/ports/line-history.ts'
import type { ChangeReport, WorkElsewhere } from '../../track/domain/changes.ts'
import type { LostContent } from '../../track/domain/losses.ts'
import type { RestoreGap, restoreActions } from '../../track/domain/restore.ts'
import type { AreaCount, AreaOverlap } from '../../track/domain/scope/survey.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import type { TreeLosses } from '../../track/domain/tree-losses.ts'
import type { UndoneEntry } from '../../track/domain/undo.ts'
import type { Branch, BranchRequest } from './branch.ts'

export type SnapshotEngine = SnapshotLocation['engine']

/** The location of a recorded snapshot. Stored with the attempt; everything else is read from the directory. */
export type SnapshotRef = SnapshotLocation

export interface Snapshot {
  readonly ref: SnapshotRef
  /** Uncommitted paths among them, from the top; empty with the checksum engine. */
  readonly dirty: readonly string[]
  /** Why the checksum engine was used although there is a repository, and other notes about this snapshot. */
  readonly notes: readonly string[]
}

/** Paths that lead through a link, with the path that each leads to. Outside or nowhere: null if it was written since, else itself. */
export type LinkTargets = readonly (readonly [path: string, target: string | null])[]

/** Ended work in a work tree: its commits elsewhere are those of its time that HEAD did not have at its end. */
export interface PastWork {
  readonly head: string
  readonly from: number
  readonly until: number
}

export interface SnapshotRequest {
  /** Absolute path of the folder to measure: any folder of a work tree. */
  readonly folder: string
  /** Names the snapshot's private directory: unique, `[a-z0-9-]+`. */
  readonly name: string
  /** The engine an attempt began with, so that its end is measured in the same way. */
  readonly engine?: SnapshotEngine
  /** The work tree's top that an attempt began with, so that its end is measured even if `.git` was removed. */
  readonly top?: string
}

/** A work tree's content at one time. */
export interface TreeContent {
  readonly hash: string
  /** A text for each hashed file that changes with every write, even if its content and times are restored. */
  readonly stamps: readonly (readonly [path: string, stamp: string])[]
}

/** A file that differs from HEAD on disk or in the index. */
export interface UncommittedFile {
  /** From the work tree's top. */
  readonly path: string
  /** In HEAD or in the index. */
  readonly tracked: boolean
  /** The index differs from HEAD. */
  readonly staged: boolean
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

/** The properties that the work trees of one repository share, so that they are one project. */
export interface WorkTreeLocation {
  /** The work tree's top, or the folder itself without a usable git. */
  readonly top: string
  /** The top of the main work tree (the same for every linked one). */
  readonly mainTop: string
  readonly engine: SnapshotEngine
  /** Why git is not usable here, as a sentence. Only with the checksum engine. */
  readonly reason?: string
}

export interface LineMeasureOptions {
  /** The salt of the project's line hashes. */
  readonly salt: string
  /** Whether an attempt was open in between: this decides what counts as brought by git. */
  readonly during: 'attempt' | 'gap'
  /** The successive contents of paths, by their ids: each becomes a separate step if all are available. */
  readonly chains?: readonly PathChain[]
}

export interface PathChain {
  readonly path: string
  /** From the content in the first snapshot to the one in the second. */
  readonly contents: readonly (string | null)[]
  /** Of each change from one content to the next, whether a hook reported it. */
  readonly reported: readonly boolean[]
}

/** A file in a snapshot. */
export interface FileState {
  /** The id of its content as git stores it; null if the snapshot did not keep it. */
  readonly id: string | null
  /** The id of a content that is not kept, if known: of a secret file, or a large one. */
  readonly hash?: string | undefined
  /** As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a submodule. */
  readonly mode: string
}

/** Null if it is longer than requested. */
export interface StoredContent {
  readonly bytes: Uint8Array | null
  readonly size: number
}

/** Reads the contents of files in snapshots. */
export interface SnapshotContents {
  /** The states of paths; null for no file. Unknown ones are left out. Null if the snapshot is gone. */
  states(place: SnapshotRef, paths: readonly string[]): Promise<ReadonlyMap<string, FileState | null> | null>
  /**
   * The new contents of paths in git since an earlier snapshot that differ from the earlier ones and from the disk;
   * null for none. Null altogether if the snapshot is gone.
   */
  heldPaths(
    from: SnapshotRef,
    place: SnapshotRef,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, string | null> | null>
  /**
   * Contents by their ids, from all objects of these snapshots; or only from those that Waymark itself kept, which are
   * never secret files. Missing ones are left out.
   */
  read(
    places: readonly SnapshotRef[],
    ids: readonly string[],
    most: number,
    source?: 'all' | 'kept',
  ): Promise<ReadonlyMap<string, StoredContent>>
}

/** The files that one stretch of the undone work changed, between two snapshots. */
export interface UndoneWindow {
  readonly from: SnapshotRef
  readonly to: SnapshotRef
  readonly files: readonly UndoneFile[]
}

export interface UndoRequest {
  /** Any folder of the work tree that is written to. */
  readonly folder: string
  /** The last one first. */
  readonly windows: readonly UndoneWindow[]
  /** The state of the work tree now. */
  readonly now: SnapshotRef
  /** The names at the marks of conflicts, to write them; null to write nothing where there is one. */
  readonly marks: { readonly now: string; readonly base: string; readonly undone: string } | null
}

export interface UndoPlan {
  /** The top of the work tree. */
  readonly top: string
  readonly files: readonly UndoneEntry[]
  readonly conflicts: readonly {
    readonly path: string
    readonly reason: ConflictReason
    /** It is written with the marks of the conflict. */
    readonly isMarked: boolean
  }[]
  readonly stays: readonly (StayingLines & { readonly path: string })[]
  /** How many windows have no contents any more. */
  readonly missing: number
  /** The unified diff of what is written. */
  readonly diff: string
  /** Changes with everything that is written. */
  readonly hash: string
}

export interface AppliedUndo extends UndoPlan {
  readonly written: readonly string[]
  /** Files that could not be written, and why. */
  readonly refused: readonly { readonly path: string; readonly problem: string }[]
}

/** Takes work back in a work tree. Writes nothing of git's. */
export interface WorkUndo {
  /** Writes nothing. */
  plan(request: UndoRequest): Promise<UndoPlan>
  /** Writes what was planned. Null if the plan is another one by now: then it writes nothing. */
  apply(request: UndoRequest, hash: string): Promise<AppliedUndo | null>
}

export interface RestoreRequest {
  /** Kept states of one work tree, the newest first: each file comes from the first that differs from the base. */
  readonly states: readonly SnapshotRef[]
  /** The state before the work; null to take the first state as it is. */
  readonly base: SnapshotRef | null
  /** Other states of the same work: what they hold is not newer. */
  readonly known: readonly SnapshotRef[]
  /** The files of the work, from the top; null for all that differ from the base, or from HEAD without one. */
  readonly files: readonly string[] | null
  /** Files of others, which are left as they are. */
  readonly without: readonly string[]
  /** The files and folders that a person named, from the top; null for all. */
  readonly named: readonly string[] | null
  /** Newer contents are overwritten, too. */
  readonly force: boolean
  /** Whether to look for commits that nothing leads to any more. */
  readonly withCommits: boolean
}

export interface LostCommit {
  readonly commit: string
  /** The git command that brings it back. */
  readonly command: string
}

export interface PlannedRestore {
  /** The top of the work tree. */
  readonly top: string
  /** The work tree as it is now. */
  readonly before: SnapshotRef
  readonly files: readonly { readonly path: string; readonly action: (typeof restoreActions)[number] }[]
  /** Files whose content is neither kept nor known: they are not overwritten without force. */
  readonly newer: readonly string[]
  /** Files that may not be written, and why. */
  readonly refused: readonly { readonly path: string; readonly problem: string }[]
  readonly leftOut: readonly { readonly path: string; readonly why: RestoreGap }[]
  /** How many files are as they were kept. */
  readonly same: number
  /** The unified diff of what is written. */
  readonly diff: string
  readonly commits: readonly LostCommit[]
  /** Changes with everything that is written. */
  readonly hash: string
}

export interface AppliedRestore extends PlannedRestore {
  readonly written: readonly string[]
  /** The work tree after it was written; null if nothing was. */
  readonly after: SnapshotRef | null
}

/** Brings kept contents back into a work tree. Writes nothing of git's. */
export interface WorkRestore {
  /** Writes nothing. */
  plan(request: RestoreRequest): Promise<PlannedRestore>
  /**
   * Writes what is planned; nothing if a file may not be written, unless files were named. With the hash of the plan
   * that was shown, null if it is another one by now.
   */
  apply(request: RestoreRequest, shown: string | null): Promise<AppliedRestore | null>
}

export interface LostFilesRequest {
  /** Earlier states of the work tree, the newest first. */
  readonly states: readonly SnapshotRef[]
  /** For each of them the paths that count; null for all. */
  readonly counted: readonly (readonly string[] | null)[]
  readonly now: SnapshotRef
  /** The states that open attempts began with. */
  readonly starts: readonly SnapshotRef[]
  /** The states before undos. */
  readonly undone: readonly SnapshotRef[]
}

export interface LostFiles {
  readonly files: readonly LostContent[]
  /** What git did meanwhile, as its reflog words it. */
  readonly commands: readonly string[]
}

/** The witness: measures a work tree, never changes it and never runs what its repository configures. */
export interface WorkTreeWitness {
  /** Fails with UNAVAILABLE for a bare repository, `$HOME`, `/` or a folder that does not exist. */
  locate(folder: string): Promise<WorkTreeLocation>
  /** The tops of the other existing work trees of the same repository. */
  others(folder: string): Promise<readonly string[]>
  /** Records the state of the work tree. */
  snapshot(request: SnapshotRequest): Promise<Snapshot>
  /** The changes between two snapshots of one work tree. With a lost snapshot `unknown`, never "no changes". */
  changes(from: SnapshotRef, to: SnapshotRef): Promise<ChangeReport>
  /** The removed and added lines, without their text. `null` if unknown. */
  lines(from: SnapshotRef, to: SnapshotRef, request: LineMeasureOptions): Promise<MeasuredLines | null>
  /** Reads the lines of a file and their history from git. */
  readonly history: LineHistory
  readonly contents: SnapshotContents
  /** The commits and changes between two commits. Fails with INVALID_INPUT if git cannot read them. */
  branch(request: BranchRequest): Promise<Branch>
  /** Those of some paths in a work tree that lead through symbolic links. */
  linkTargets(top: string, paths: readonly string[], since: number): Promise<LinkTargets>
  /** The paths that differ, without renames and lines: cheap. `null` if unknown. */
  touchedPaths(from: SnapshotRef, to: SnapshotRef): Promise<readonly string[] | null>
  /** Uncommitted contents of earlier states that are neither on the disk nor in git now. */
  lostFiles(request: LostFilesRequest): Promise<LostFiles>
  /**
   * What changed since a time in commits that are not in a snapshot's HEAD, and in other work trees; and what commits
   * changed that were not in HEAD at the end of past work.
   */
  elsewhere(place: SnapshotRef, since: number, past: readonly PastWork[]): Promise<WorkElsewhere>
  /** Those of some paths whose content is another now than in a snapshot that was taken at `time`. */
  changedSince(
    place: SnapshotRef,
    time: number,
    request: { readonly paths: readonly string[]; readonly name: string },
  ): Promise<readonly string[]>
  /** The unified diff between two snapshots, of some paths (old or new) if given. `null` if a snapshot is gone. */
  unifiedDiff(from: SnapshotRef, to: SnapshotRef, paths?: readonly string[]): Promise<UnifiedDiff | null>
  /** The number of files that each area matches in a new snapshot: tracked and untracked, not ignored ones. */
  matching(place: SnapshotRef, areas: readonly string[]): Promise<readonly AreaCount[]>
  /** The areas that overlap with those of others, by these files or by their patterns; in the order of the others. */
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
  /** The same hash, and stamps that show whether a file was written since. */
  content(folder: string): Promise<TreeContent>
  /** Waits for work that continues after an answer (keeping the baseline's trees). Call before the process exits. */
  settle(): Promise<void>
  /** Removes private directories older than 24 hours that no kept reference names. Returns how many. */
  sweep(keep: readonly SnapshotRef[]): Promise<number>
}

/** What the guard before git commands asks of a witness. */
export interface GuardWitness extends Pick<WorkTreeWitness, 'snapshot' | 'touchedPaths'> {
  /** The uncommitted files of a snapshot's own repository. `null` if the snapshot is gone. */
  uncommittedFiles(place: SnapshotRef): Promise<readonly UncommittedFile[] | null>
  /** The size of all kept contents on disk, in bytes. */
  keptBytes(): number
}

/** A work tree of the repository besides its main one. */
export interface LinkedTree {
  /** Its top, absolute. */
  readonly path: string
  /** The checked-out branch, `task-1`; null if there is none. */
  readonly branch: string | null
  readonly head: string | null
  /** The task it was made for; null if Waymark did not make it. */
  readonly taskId: string | null
  /** Whether its folder still exists. */
  readonly exists: boolean
}

export interface NewWorkTreeRequest {
  /** Any folder of the repository. */
  readonly folder: string
  /** The absolute path of the new tree. */
  readonly path: string
  readonly branch: string
  /** The revision to begin at; the folder's HEAD if absent. */
  readonly from?: string | undefined
  readonly taskId: string
}

export interface NewWorkTree extends LinkedTree {
  /** Notes about skipped steps. */
  readonly notes: readonly string[]
}

/** Makes and removes work trees. The only port that writes to a user's repository. Runs nothing of it. */
export interface LinkedTrees {
  /** The trees that were made for a task, cheaply: no git is run. */
  bound(folder: string): Promise<readonly { readonly path: string; readonly taskId: string }[]>
  list(folder: string): Promise<readonly LinkedTree[]>
  /** Fails with a sentence, and leaves nothing behind then. */
  add(tree: NewWorkTreeRequest): Promise<NewWorkTree>
  /** The work that would be lost with a tree. */
  losses(folder: string, tree: LinkedTree): Promise<TreeLosses>
  /** Refuses if work would be lost, and names it: uncommitted files, commits that are nowhere else. */
  remove(folder: string, tree: LinkedTree): Promise<void>
  /** Removes it in any case, and returns the lost work. */
  discard(folder: string, tree: LinkedTree): Promise<TreeLosses>
}

/** A copy of a file that a hook made. */
export interface FileCopy {
  /** The path of the file, from the work tree's top. */
  readonly path: string
  /** Absolute path of the copy. */
  readonly copy: string
}

/** The content of a path: its id as git stores it, null for no file, undefined if unknown. */
export interface ContentAt {
  readonly id: string | null | undefined
  /** When it was last changed, in milliseconds by the clock of the file system; null if not read. */
  readonly changedAt: number | null
}

/** A step of a file's history: its author and the contents before and after. */
export interface HistoryStep {
  readonly author: string
  readonly before: string | null
  readonly after: string | null
  /** Only white space differs: the lines keep their owners. */
  readonly reformats?: true
}

export interface OwnLines {
  readonly added: number
  readonly deleted: number
}

/** Contents of files between two snapshots, from the copies by hooks. */
export interface FileCopies {
  /** Stores copies, and returns the ids of their contents; null for one that cannot be read. */
  keep(place: SnapshotRef, copies: readonly FileCopy[]): Promise<readonly (string | null)[]>
  /** The contents of paths in a snapshot; empty if the snapshot is gone. */
  contents(place: SnapshotRef, paths: readonly string[]): Promise<ReadonlyMap<string, ContentAt>>
  /** The same snapshot with other contents for some files. Null if it is gone. */
  amend(
    place: SnapshotRef,
    name: string,
    files: ReadonlyMap<string, string | null>,
  ): Promise<SnapshotRef | null>
  /** The lines of a file that each author added and removed, over all its steps. Null if contents are gone. */
  linesOf(place: SnapshotRef, steps: readonly HistoryStep[]): Promise<ReadonlyMap<string, OwnLines> | null>
}

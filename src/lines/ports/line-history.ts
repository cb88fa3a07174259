import type { Landed, TaskLines } from '../../track/domain/landed.ts'

/** A request for a file's lines. */
export interface FileRequest {
  /** Absolute path of the folder that the caller works in. */
  readonly folder: string
  /** From that folder, or absolute; from the work tree's top where it begins with `:/`, as in git. */
  readonly path: string
  /** A revision as git takes it; the file on disk if absent. */
  readonly rev?: string | undefined
  /** The salt of the project's line hashes. */
  readonly salt: string
  /** Whether to return the lines themselves. */
  readonly text: boolean
}

export interface LineHistoryFile {
  readonly top: string
  /** From the work tree's top. */
  readonly path: string
  /** The id of its content as git would store it. */
  readonly oid: string
  /** The commit of the file; null for the file on disk. */
  readonly commit: string | null
  /** HEAD, and the file's content there. */
  readonly head: { readonly commit: string; readonly oid: string | null } | null
  readonly hashes: readonly string[]
  readonly text?: readonly string[]
  /** Changes with everything else that git's answer depends on. */
  readonly stamp: string
  /** Why it has no separate lines, as a sentence. */
  readonly withoutLines?: string
}

export interface BlameRequest {
  readonly folder: string
  readonly path: string
  /** Null for the file on disk with this content. */
  readonly commit: string | null
  readonly oid: string
  /** Also lines that were copied from other files. */
  readonly copies: boolean
}

/** Lines that a commit brought, one after the other. */
export interface BlamedLines {
  /** Null for lines that are in no commit. */
  readonly commit: string | null
  /** The path of the file there. */
  readonly path: string
  /** Their first line there, and in the requested file. */
  readonly line: number
  readonly currentLine: number
  readonly count: number
}

export interface BlamedCommit {
  readonly id: string
  readonly author: string
  /** Milliseconds since the epoch, to the second. */
  readonly authoredAt: number
  readonly committedAt: number
  readonly summary: string
  /** The agent that its trailers name: `Claude`. */
  readonly agent?: string
  /** The history was cut here: an older commit may have brought the lines. */
  readonly isCut: boolean
}

export interface BlameResult {
  readonly lines: readonly BlamedLines[]
  readonly commits: readonly BlamedCommit[]
  /** The ids of the contents that the lines are from: commit, path, id. */
  readonly contents: readonly (readonly [commit: string, path: string, oid: string])[]
  /** Why git failed, as a sentence. */
  readonly error?: string
}

export interface ListedCommit {
  readonly id: string
  /** Milliseconds since the epoch, to the second. */
  readonly committedAt: number
  /** The paths that it changes; of a merge, only those that differ from all of its parents. */
  readonly paths: readonly string[]
}

export interface ListedFile {
  readonly path: string
  readonly bytes: number
  /** Generated, by an attribute of the repository or by its name. */
  readonly generated: boolean
}

export interface LandingRequest {
  readonly folder: string
  readonly tasks: readonly TaskLines[]
  /** The branch that the project set; null for the repository's own default. */
  readonly branch: string | null
  /** The salt of the project's line hashes. */
  readonly salt: string
}

/** Reads the lines of a file with git. Runs nothing that the repository configures. */
export interface LineHistory {
  /** Fails with a sentence if the path is not a file. */
  readonly file: (request: FileRequest) => Promise<LineHistoryFile>
  readonly blame: (request: BlameRequest) => Promise<BlameResult>
  /** The commits of a revision range, newest first; a single one if it is no range. */
  readonly commits: (folder: string, range: string, most: number) => Promise<readonly ListedCommit[]>
  /** The files of a commit, from the top, optionally only those below a folder. */
  files(
    folder: string,
    rev: string,
    under: string | null,
  ): Promise<{ readonly commit: string; readonly files: readonly ListedFile[] }>
  /** Where the lines of each task are, in their order: on the default branch, another one, or only on disk. */
  landing(request: LandingRequest): Promise<readonly Landed[]>
  /** The hashes of the lines of contents, by their ids; missing contents are left out. */
  hashes(
    folder: string,
    oids: readonly string[],
    salt: string,
  ): Promise<readonly (readonly [oid: string, hashes: readonly string[]])[]>
}

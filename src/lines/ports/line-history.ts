/** A file whose lines are asked about. */
export interface FileRequest {
  /** Absolute path of the folder that the caller works in. */
  readonly folder: string
  /** From that folder, or absolute; from the work tree's top where it begins with `:/`, as in git. */
  readonly path: string
  /** A commit in git's words; the file on disk when left out. */
  readonly rev?: string | undefined
  /** What the hashes of the project's lines begin with. */
  readonly salt: string
  /** Whether the lines themselves are answered. */
  readonly text: boolean
}

export interface LineHistoryFile {
  readonly top: string
  /** From the work tree's top. */
  readonly path: string
  /** The id of its content as git would store it. */
  readonly oid: string
  /** The commit that it is of; null for the file on disk. */
  readonly commit: string | null
  /** HEAD's, and what it has there. */
  readonly head: { readonly commit: string; readonly oid: string | null } | null
  readonly hashes: readonly string[]
  readonly text?: readonly string[]
  /** What else git's answer rests on: another text where that changed. */
  readonly stamp: string
  /** Why its lines are not known one by one, as a sentence. */
  readonly withoutLines?: string
}

export interface BlameRequest {
  readonly folder: string
  readonly path: string
  /** Null for the file on disk, of which this content was found. */
  readonly commit: string | null
  readonly oid: string
  /** Also lines that were copied from other files. */
  readonly copies: boolean
}

/** Lines that a commit brought, one after the other. */
export interface BlamedLines {
  /** Null for lines that are in no commit. */
  readonly commit: string | null
  /** What the file was called there. */
  readonly path: string
  /** Their first line there, and in the file that is asked about. */
  readonly line: number
  readonly at: number
  readonly count: number
}

export interface BlamedCommit {
  readonly id: string
  readonly author: string
  /** Milliseconds since the epoch, to the second. */
  readonly authoredAt: number
  readonly committedAt: number
  readonly summary: string
  /** The history was cut here: an older commit may have brought the lines. */
  readonly isCut: boolean
}

export interface BlameResult {
  readonly lines: readonly BlamedLines[]
  readonly commits: readonly BlamedCommit[]
  /** The ids of the contents that the lines are from: commit, path, id. */
  readonly contents: readonly (readonly [commit: string, path: string, oid: string])[]
  /** Why git could not say it, as a sentence. */
  readonly error?: string
}

export interface ListedCommit {
  readonly id: string
  /** Milliseconds since the epoch, to the second. */
  readonly committedAt: number
  /** What it changes; of a merge, only what differs from all of its parents. */
  readonly paths: readonly string[]
}

export interface ListedFile {
  readonly path: string
  readonly bytes: number
  /** An attribute of the repository, or its name, says that nobody typed it. */
  readonly generated: boolean
}

/** Asks git for the lines of a file: it reads, and runs nothing that the repository configures. */
export interface LineHistory {
  /** Fails with a sentence for what is no file. */
  readonly file: (request: FileRequest) => Promise<LineHistoryFile>
  readonly blame: (request: BlameRequest) => Promise<BlameResult>
  /** The commits of a range in git's words, newest first; a single one where it names no range. */
  readonly commits: (folder: string, range: string, most: number) => Promise<readonly ListedCommit[]>
  /** The files of a commit, from the top; only those below a folder where one is given. */
  files(
    folder: string,
    rev: string,
    under: string | null,
  ): Promise<{ readonly commit: string; readonly files: readonly ListedFile[] }>
  /** The hashes of the lines of contents, by their ids; those that are not there are left out. */
  hashes(
    folder: string,
    oids: readonly string[],
    salt: string,
  ): Promise<readonly (readonly [oid: string, hashes: readonly string[]])[]>
}

import type { ContentDifference, ContentParts } from '../domain/approved-content.ts'

/** A file that is submitted as evidence, as it is on disk. */
export interface EvidenceFile {
  /** Relative to the project's folder, with `/`, without `.` and `..`: one spelling per file. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  /** Changes whenever the file does. */
  readonly stamp: string
  /** Its JSON, for files of at most 1 MB; undefined when it is none. */
  readonly content?: unknown
}

export interface EvidenceFileStamp {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly stamp: string
}

/** What is at a path: null for nothing. */
export interface FileContent {
  readonly path: string
  readonly sha256: string | null
  /** Of a short text, all of it. */
  readonly text: string | null
}

/** Reads evidence in the project's folder, and never outside it. */
export interface EvidenceFiles {
  /**
   * Reads files; the same file counts once however it is spelt. Fails with INVALID_INPUT, naming each path that leaves
   * the folder (also through a link), does not exist, or is no regular file.
   */
  read(folder: string, paths: readonly string[]): Promise<readonly EvidenceFile[]>
  /** Whether files are still what they were, in the order given. Reads only those whose stamp is another. */
  freshness(
    folder: string,
    files: readonly EvidenceFileStamp[],
  ): Promise<readonly ('current' | 'changed' | 'deleted')[]>
  /** What is at these paths now, in the order given. Never fails: what cannot be read has a hash of its own. */
  contents(folder: string, paths: readonly string[]): Promise<readonly FileContent[]>
}

/** What people were shown, kept outside the project for a while, so that a change since then can be told as a difference. */
export interface PreviewStore {
  /** Whether it is known what a content is of; what is asked for is kept longer. */
  isKept(content: string): Promise<boolean>
  /** Keeps what a content is of. What cannot be kept is not. */
  keep(content: string, parts: ContentParts): Promise<void>
  /** What differs now from what a content, perhaps shortened, was of. Null where that is not kept. */
  since(content: string, now: ContentParts): Promise<ContentDifference | null>
}

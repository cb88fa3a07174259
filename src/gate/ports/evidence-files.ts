import type { ContentDifference, ContentParts } from '../domain/approved-content.ts'

/** A file submitted as evidence, as it is on disk. */
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

/** The content of a path; null hash for nothing. */
export interface FileContent {
  readonly path: string
  readonly sha256: string | null
  /** The whole text, if it is short. */
  readonly text: string | null
}

/** Reads evidence in the project's folder, and never outside it. */
export interface EvidenceFiles {
  /**
   * Reads files; the same file counts once however it is spelt. Fails with INVALID_INPUT, naming each path that leaves
   * the folder (also through a link), does not exist, or is no regular file.
   */
  read(folder: string, paths: readonly string[]): Promise<readonly EvidenceFile[]>
  /** The status of files, in the given order. Reads only those whose stamp changed. */
  freshness(
    folder: string,
    files: readonly EvidenceFileStamp[],
  ): Promise<readonly ('current' | 'changed' | 'deleted')[]>
  /** The content of paths, in the given order. Never fails: unreadable files have a hash of their own. */
  contents(folder: string, paths: readonly string[]): Promise<readonly FileContent[]>
}

/** Contents shown to people, stored outside the project for a limited time, to show later changes as a diff. */
export interface PreviewStore {
  /** Whether a content is stored; renews its lifetime. */
  isKept(content: string): Promise<boolean>
  /** Stores a content. Errors are ignored. */
  keep(content: string, parts: ContentParts): Promise<void>
  /** The difference from a stored content, whose name may be shortened. Null if it is not stored. */
  since(content: string, now: ContentParts): Promise<ContentDifference | null>
}

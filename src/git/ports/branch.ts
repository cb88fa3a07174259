/** The commits between a base and a head, and their changes. */

export interface BranchRequest {
  /** Absolute path of the folder that the caller works in. */
  readonly folder: string
  /** A revision as git takes it; a branch that exists only at `origin` is found there. */
  readonly base: string
  /** HEAD if absent. */
  readonly head?: string | undefined
}

export interface NamedCommit {
  readonly id: string
  /** The committer's time, milliseconds since the epoch, to the second. */
  readonly committedAt: number
}

export interface BranchCommit extends NamedCommit {
  readonly author: string
  readonly email: string
  readonly subject: string
  readonly isMerge: boolean
  /** From the work tree's top; of a merge, the paths that differ from all of its parents. */
  readonly paths: readonly string[]
}

/** The most files of a branch that are returned. */
export const maxBranchFiles = 20_000

export interface BranchFile {
  readonly path: string
  /** The path of a renamed file at the base. */
  readonly from?: string
  readonly change: 'added' | 'modified' | 'deleted' | 'renamed'
  /** Ids of the contents; null if there is no file. */
  readonly before: string | null
  readonly after: string | null
}

export interface Branch {
  readonly head: NamedCommit
  /** The merge base of head and base. */
  readonly base: NamedCommit
  /** Newest first. */
  readonly commits: readonly BranchCommit[]
  readonly files: readonly BranchFile[]
  /** The history of this clone is cut: commits may be missing. */
  readonly isShallow: boolean
  /** There are more commits or files than are returned. */
  readonly isCut: boolean
}

/** Commits that stand between a base and a head, and what they come to. */

export interface BranchRequest {
  /** Absolute path of the folder that the caller works in. */
  readonly folder: string
  /** In git's words; a branch that is only at `origin` is found there. */
  readonly base: string
  /** HEAD when left out. */
  readonly head?: string | undefined
}

export interface NamedCommit {
  readonly id: string
  /** The committer's time, milliseconds since the epoch, to the second. */
  readonly at: number
}

export interface BranchCommit extends NamedCommit {
  readonly author: string
  readonly email: string
  readonly subject: string
  readonly isMerge: boolean
  /** From the work tree's top; of a merge, what it has like none of its parents. */
  readonly paths: readonly string[]
}

/** So many files of a branch are told at most. */
export const maxBranchFiles = 20_000

export interface BranchFile {
  readonly path: string
  /** The name at the base, of a file that was renamed. */
  readonly from?: string
  readonly change: 'added' | 'modified' | 'deleted' | 'renamed'
  /** Ids of the contents; null where there is none. */
  readonly before: string | null
  readonly after: string | null
}

export interface Branch {
  readonly head: NamedCommit
  /** Where head and base parted. */
  readonly base: NamedCommit
  /** Newest first. */
  readonly commits: readonly BranchCommit[]
  readonly files: readonly BranchFile[]
  /** The history of this clone is cut: commits may be missing. */
  readonly isShallow: boolean
  /** There are more commits or files than are told. */
  readonly isCut: boolean
}

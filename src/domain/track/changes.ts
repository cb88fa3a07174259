/** How a path's state differs between two snapshots. A change of type (file to symbolic link) counts as modified. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed'

/** Where a change came from: the work itself, git moving other people's work in, or both. */
export type Origin = 'task' | 'imported' | 'mixed'

/** One path whose state differs. Paths are relative to the work tree's top, with `/`, as UTF-8 for display. */
export interface FileChange {
  readonly path: string
  /** The old path of a rename. */
  readonly from?: string
  readonly change: ChangeKind
  readonly typeChanged?: true
  readonly origin: Origin
  /** Null when not countable: binary, a blob that is gone, or too large to keep. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Present when the state could not be compared exactly: a sentence that says why. */
  readonly uncertain?: string
}

export interface IgnoredChanges {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly deleted: readonly string[]
}

/** A commit made or brought in between two snapshots, as the reflog tells it. */
export interface HeadMove {
  readonly commit: string
  /** The reflog's verb: commit, merge, pull, checkout, rebase, reset, cherry-pick, revert, am … */
  readonly action: string
  readonly message: string
  readonly origin: 'task' | 'imported'
  /** When it was, in milliseconds since the epoch, to the second. */
  readonly at: number
  /** What the commit changes, from the work tree's top; empty where it was not looked at. */
  readonly paths: readonly string[]
}

/** What differs between two snapshots. `unknown` means that it could not be measured: never read it as "nothing". */
export interface ChangeReport {
  readonly status: 'verified' | 'partial' | 'unknown'
  readonly changes: readonly FileChange[]
  readonly ignored: IgnoredChanges
  readonly headMoves: readonly HeadMove[]
  /** Sentences that a reader of the report must know. */
  readonly notes: readonly string[]
  /** Why the status is not `verified`: one sentence each. */
  readonly doubts: readonly string[]
}

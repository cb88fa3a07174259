import type { AttemptId, TaskId } from '../id.ts'
import type { FileChange } from './changes.ts'
import type { FileVerdict } from './scope/judge.ts'

/** How sure it is that the attempt made a change, when several were open in one work tree. */
export type Attribution = 'certain' | 'probable' | 'contested'

/** Another agent that was at work in the same tree. */
export interface Rival {
  readonly agent: string
  readonly taskId: TaskId
}

/** A change as it is reported and stored: what was measured, judged against the scope, and whose it is. */
export interface ReportedChange extends FileChange {
  /** Null when no areas were declared, and for what is contested: that is not judged. */
  readonly scope: FileVerdict | null
  readonly attribution: Attribution
  /** Who may have written there too: the lines are then counted for all writers together. */
  readonly with?: readonly Rival[]
  /** The descendant attempt that made it. */
  readonly via?: AttemptId
}

/** What the scope verdict comes to for a whole attempt. */
export interface ScopeSummary {
  /** Null when no areas were declared or the changes are unknown. */
  readonly matches: boolean | null
  readonly unexpected: readonly string[]
}

/** A path that changed during the attempt and that others probably changed: it is not among the changes. */
export interface ContestedFile {
  readonly path: string
  /** Names of the agents that are likelier, at least one. */
  readonly perhaps: readonly string[]
}

/** A commit made in the work tree while the attempt was open. */
export interface CommitDuring {
  readonly id: string
  readonly subject: string
  /** Whose it is, as far as the time and the files tell. */
  readonly by: 'own' | 'other' | 'unknown'
}

/**
 * A path that the agent names as its work, and that the measurement alone does not give it: `settled` was between
 * several agents until its words, `unchanged` did not change at all.
 */
export interface ClaimedPath {
  readonly path: string
  readonly found: 'settled' | 'unchanged'
}

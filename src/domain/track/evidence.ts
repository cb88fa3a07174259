import type { AttemptId } from '../id.ts'
import type { FileChange } from './changes.ts'
import type { FileVerdict } from './scope/judge.ts'

/** How sure it is that the attempt made a change, when several were open in one work tree. */
export type Attribution = 'certain' | 'probable' | 'contested'

/** A change as it is reported and stored: what was measured, judged against the scope, and whose it is. */
export interface ReportedChange extends FileChange {
  /** Null when no areas were declared. */
  readonly scope: FileVerdict | null
  readonly attribution: Attribution
  /** The descendant attempt that made it. */
  readonly via?: AttemptId
}

/** What the scope verdict comes to for a whole attempt. */
export interface ScopeSummary {
  /** Null when no areas were declared or the changes are unknown. */
  readonly matches: boolean | null
  readonly unexpected: readonly string[]
}

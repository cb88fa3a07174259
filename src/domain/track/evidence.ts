import type { AttemptId } from '../id.ts'
import type { FileChange } from './changes.ts'

/** `in`: declared. `companion` and `shared`: warned about at most. `out`: judged. `imported`: not judged. */
export type Verdict = 'in' | 'companion' | 'shared' | 'out' | 'imported'

export type Attribution = 'certain' | 'probable' | 'contested'

/** A change as it is reported and stored: what was measured, judged against the scope, and whose it is. */
export interface ReportedChange extends FileChange {
  /** Null when no areas were declared. */
  readonly scope: Verdict | null
  readonly attribution: Attribution
  /** The descendant attempt that made it. */
  readonly via?: AttemptId
}

export interface ScopeVerdict {
  /** Null when no areas were declared or the changes are unknown. */
  readonly matches: boolean | null
  readonly unexpected: readonly string[]
  readonly warnings: readonly string[]
}

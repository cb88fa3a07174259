import type { Scope } from '../../track/scope/scope.ts'
import type { Attempt } from '../../track/task.ts'
import type { ProcessDefinition } from '../definition.ts'
import type { RunRecord } from '../run-record.ts'

/** A run that says what may be done now. */
export interface HookRun {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
}

/** An open attempt in the work tree that a hook acts for. */
export interface HookAttempt {
  readonly attempt: Attempt
  readonly task: string
  readonly scope: Scope
}

/** Why something cannot be done, as a caller can act on it. Surfaces map each code to their own status. */
export type FailureCode =
  | 'INVALID_INPUT'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'REFUSED'
  | 'FORBIDDEN'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'UNAVAILABLE'
  | 'INTERNAL'
  | GateCode

/** The codes of runs, as their specification names them. */
export type GateCode =
  | 'RUN_NOT_FOUND'
  | 'PROCESS_NOT_FOUND'
  | 'RUN_FINISHED'
  | 'REVISION_CONFLICT'
  | 'INVALID_EVENT'
  | 'INVALID_PAYLOAD'
  | 'GUARD_FAILED'

/** What an id can name that is not there. */
export type MissingKind =
  | 'mission'
  | 'task'
  | 'mission or task'
  | 'attempt'
  | 'run'
  | 'hold'
  | 'phase'
  | 'milestone'

export interface FailureOptions {
  /** The way on: one sentence that names the next call or command. */
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
  /** With NOT_FOUND: what there is none of by that id. Each surface knows its own way to list such things. */
  readonly missing?: MissingKind
  readonly cause?: unknown
}

/** An expected refusal. Anything else that is thrown is a bug. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly missing: MissingKind | undefined

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.hint = options.hint
    this.details = options.details
    this.missing = options.missing
  }
}

/** What was thrown, in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same with the stack, for a log. */
export function detailsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The code of an error of the file system (`ENOENT`) or of SQLite (`SQLITE_BUSY`); null for any other. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

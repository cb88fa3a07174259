import { detailsOf, Failure, type FailureCode, type NextCall } from '../../kernel/failure.ts'
import type { Logger } from './serving.ts'

/** The codes of refusals outside operations. */
export type RequestFailureCode =
  | 'UNAUTHENTICATED'
  | 'METHOD_NOT_ALLOWED'
  | 'TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'TOO_MANY_REQUESTS'
  | 'UPGRADE_REQUIRED'

export type ErrorCode = FailureCode | RequestFailureCode

/** The answer to a refused request. */
export interface ErrorAnswer {
  readonly success: false
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly reason?: string
    readonly hint?: string
    readonly fix?: NextCall
    readonly details?: Readonly<Record<string, unknown>>
  }
}

export interface RefusalOptions {
  /** The reason for programs and tests: `token_revoked`. */
  readonly reason?: string
  /** The next step, in a sentence. */
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal before or instead of an operation. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly reason: string | null
  readonly hint: string | undefined
  readonly fix = null
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string,
    { reason, hint, details, headers = {} }: RefusalOptions = {},
  ) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.reason = reason ?? null
    this.hint = hint
    this.details = details
    this.headers = headers
  }
}

/** A refusal in the format of the answer, also for an upgrade. */
export interface RefusalResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorAnswer
}

/** The refusal for an error. An unexpected error is logged, and answered without details. */
export function formatRefusal(error: unknown, log: Logger): RefusalResponse {
  if (error instanceof Refusal) return { ...answerOf(error), headers: error.headers }
  if (error instanceof Failure) return { ...answerOf(error), headers: {} }
  log.error('A request failed unexpectedly.', { error: detailsOf(error) })
  const defect = new Refusal('INTERNAL', 'The request failed unexpectedly.', {
    reason: 'unexpected_error',
    hint: 'This is a defect of Waymark. Its log has the details; other requests still work.',
  })
  return { ...answerOf(defect), headers: {} }
}

export function refusalResponse(error: unknown, log: Logger): Response {
  const { status, headers, body } = formatRefusal(error, log)
  return Response.json(body, { status, headers })
}

interface RefusalFields {
  readonly code: ErrorCode
  readonly message: string
  readonly reason: string | null
  readonly hint: string | undefined
  readonly fix: NextCall | null
  readonly details: Readonly<Record<string, unknown>> | undefined
}

function answerOf({ code, message, reason, hint, fix, details }: RefusalFields) {
  const error = {
    code,
    message,
    ...(reason !== null && { reason }),
    ...(hint !== undefined && { hint }),
    ...(fix !== null && { fix }),
    ...(details !== undefined && { details }),
  }
  return { status: statusOf[code], body: { success: false, error } } as const
}

const failureStatus = {
  INVALID_INPUT: 400,
  NOT_FOUND: 404,
  CONFLICT: 409,
  REFUSED: 422,
  FORBIDDEN: 403,
  IDEMPOTENCY_KEY_REUSED: 422,
  UNAVAILABLE: 503,
  INTERNAL: 500,
  RUN_NOT_FOUND: 404,
  PROCESS_NOT_FOUND: 404,
  RUN_FINISHED: 409,
  REVISION_CONFLICT: 409,
  INVALID_EVENT: 422,
  INVALID_PAYLOAD: 422,
  GUARD_FAILED: 422,
} as const satisfies Record<FailureCode, number>

const requestStatus = {
  UNAUTHENTICATED: 401,
  METHOD_NOT_ALLOWED: 405,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOO_MANY_REQUESTS: 429,
  UPGRADE_REQUIRED: 426,
} as const satisfies Record<RequestFailureCode, number>

/** The HTTP status of each code. */
export const statusOf = { ...failureStatus, ...requestStatus } as const satisfies Record<ErrorCode, number>

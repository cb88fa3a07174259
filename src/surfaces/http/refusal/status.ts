import type { FailureCode } from '../../../domain/failure.ts'
import type { ErrorCode, RequestFailureCode } from './refusal.ts'

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
} as const satisfies Record<RequestFailureCode, number>

/** The HTTP status of each code. */
export const statusOf = { ...failureStatus, ...requestStatus } as const satisfies Record<ErrorCode, number>

import type { FailureCode } from '../../domain/failure.ts'

/** 0 when done, 1 when it could not be done, 2 when the command was not understood. */
export type ExitCode = 0 | 1 | 2

export const exitCodes = {
  INVALID_INPUT: 2,
  NOT_FOUND: 1,
  CONFLICT: 1,
  REFUSED: 1,
  FORBIDDEN: 1,
  IDEMPOTENCY_KEY_REUSED: 1,
  UNAVAILABLE: 1,
  INTERNAL: 1,
  RUN_NOT_FOUND: 1,
  PROCESS_NOT_FOUND: 1,
  RUN_FINISHED: 1,
  REVISION_CONFLICT: 1,
  INVALID_EVENT: 1,
  INVALID_PAYLOAD: 1,
  GUARD_FAILED: 1,
} as const satisfies Record<FailureCode, ExitCode>

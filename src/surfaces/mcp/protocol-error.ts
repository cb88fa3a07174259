import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { Failure, type FailureCode } from '../../kernel/failure.ts'

export interface ErrorContext {
  readonly log: (line: string, error?: unknown) => void
  /** Additional data of the error, beside the failure's code. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** Runs a method without a result for refusals: a failure becomes a protocol error; a defect is also logged. */
export async function explainErrors<Result>(
  { log, data }: ErrorContext,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof Failure) throw protocolError(error, data)
    log('A request failed unexpectedly:', error)
    throw error
  }
}

function protocolError(
  { code, message, reason, hint, fix }: Failure,
  data: ErrorContext['data'],
): ProtocolError {
  return new ProtocolError(codes[code], hint === undefined ? message : `${message} ${hint}`, {
    ...data,
    code,
    ...(reason !== null && { reason }),
    ...(fix !== null && { fix }),
  })
}

const codes = {
  INVALID_INPUT: ProtocolErrorCode.InvalidParams,
  NOT_FOUND: ProtocolErrorCode.InvalidParams,
  CONFLICT: ProtocolErrorCode.InvalidParams,
  REFUSED: ProtocolErrorCode.InvalidParams,
  FORBIDDEN: ProtocolErrorCode.InvalidParams,
  IDEMPOTENCY_KEY_REUSED: ProtocolErrorCode.InvalidParams,
  UNAVAILABLE: ProtocolErrorCode.InternalError,
  INTERNAL: ProtocolErrorCode.InternalError,
  RUN_NOT_FOUND: ProtocolErrorCode.InvalidParams,
  PROCESS_NOT_FOUND: ProtocolErrorCode.InvalidParams,
  RUN_FINISHED: ProtocolErrorCode.InvalidParams,
  REVISION_CONFLICT: ProtocolErrorCode.InvalidParams,
  INVALID_EVENT: ProtocolErrorCode.InvalidParams,
  INVALID_PAYLOAD: ProtocolErrorCode.InvalidParams,
  GUARD_FAILED: ProtocolErrorCode.InvalidParams,
} as const satisfies Record<FailureCode, number>

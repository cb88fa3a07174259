import type { FailureCode } from '../../../domain/failure.ts'

/** Why a request was not let in, beside what an operation refuses. */
export type RequestFailureCode =
  | 'UNAUTHENTICATED'
  | 'METHOD_NOT_ALLOWED'
  | 'TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'TOO_MANY_REQUESTS'

export type ErrorCode = FailureCode | RequestFailureCode

/** What every refused request is answered. */
export interface ErrorAnswer {
  readonly success: false
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly hint?: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

export interface RefusalOptions {
  /** The way on, as a sentence. */
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that is refused before, or instead of, an operation. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, { hint, details, headers = {} }: RefusalOptions = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.hint = hint
    this.details = details
    this.headers = headers
  }
}

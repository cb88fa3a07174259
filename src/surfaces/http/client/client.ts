import type { EntityReference } from '../../../events/domain/event-kinds.ts'
import type { Actor } from '../../../kernel/actor.ts'
import type { NextCall } from '../../../kernel/failure.ts'
import type { InputOf, OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'
import type { ErrorAnswer, ErrorCode } from '../refusal.ts'

export type { InputOf, OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'

export interface ClientOptions {
  /** The project's base: empty for the first one of this server, `/p/<key>`, or a full URL. */
  readonly base?: string
  /** A bearer token. The dashboard uses a cookie instead. */
  readonly token?: string
  /** The CSRF value from `GET /api/session`, for a page with a cookie. */
  readonly csrf?: () => string | null
}

export interface CallOptions {
  /** The same key and input get the same answer. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** Calls an operation. Fails with an `ApiFailure` if it is refused or the server is unreachable. */
export type ApiClient = <Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  options?: CallOptions,
) => Promise<OutputOf<Name>>

/** The entity of a frame of the live feed. */
export type FrameEntity =
  | Exclude<EntityReference['kind'], 'workflow of task' | 'issue of inbox item' | 'refusal'>
  | 'workflow'

/** A change of one entity in the live feed of `/ws`. */
export interface Frame {
  readonly seq: number
  /** Its index among the frames of the log entry. */
  readonly n: number
  readonly event: `${FrameEntity}:${string}`
  readonly happened_at: string
  readonly actor: Pick<Actor, 'name' | 'kind' | 'role' | 'channel'>
  /** The entity as it is now; null if it is gone. */
  readonly data: Readonly<Record<string, unknown>> | null
}

/** The server's refusal of a call. */
export class ApiFailure extends Error {
  /** `UNREACHABLE` if no Waymark server answered. */
  readonly code: ErrorCode | 'UNREACHABLE'
  /** The HTTP status; 0 without an answer. */
  readonly status: number
  readonly reason: string | null
  readonly hint: string | undefined
  readonly fix: NextCall | null
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(status: number, error: Partial<ErrorAnswer['error']>, cause?: unknown) {
    super(error.message ?? `The server cannot be reached${status ? `: it answered ${status}` : ''}.`, {
      cause,
    })
    this.name = 'ApiFailure'
    this.code = error.code ?? 'UNREACHABLE'
    this.status = status
    this.reason = error.reason ?? null
    this.hint = error.hint
    this.fix = error.fix ?? null
    this.details = error.details
  }
}

/** A client of one project. It imports only types, so that pages contain no server code. */
export function createClient({ base = '', token, csrf }: ClientOptions = {}): ApiClient {
  return async (name, input, { idempotencyKey, signal } = {}) => {
    const csrfToken = csrf?.()
    const headers = {
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(csrfToken && { 'X-Waymark-Csrf': csrfToken }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    }
    const body = JSON.stringify(input)
    const request = { method: 'POST', headers, body, ...(signal && { signal }) }
    const answer = await answerOf(await fetchOrFail(`${base}/api/${name}`, request))
    return answer as OutputOf<typeof name> // the server's answers follow the contract
  }
}

async function fetchOrFail(address: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(address, request)
  } catch (error) {
    if (request.signal?.aborted) throw error
    throw new ApiFailure(0, {}, error)
  }
}

async function answerOf(response: Response): Promise<unknown> {
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok && answer !== null) return answer
  throw new ApiFailure(response.status, isErrorAnswer(answer) ? answer.error : {})
}

function isErrorAnswer(answer: unknown): answer is ErrorAnswer {
  return typeof answer === 'object' && answer !== null && 'error' in answer
}

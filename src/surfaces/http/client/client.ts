import type { EntityReference } from '../../../events/domain/event-kinds.ts'
import type { Actor } from '../../../kernel/actor.ts'
import type { NextCall } from '../../../kernel/failure.ts'
import type { InputOf, OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'
import type { ErrorAnswer, ErrorCode } from '../refusal.ts'

export type { InputOf, OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'

export interface ClientOptions {
  /** Where the project is: empty for the first one of this page's own server, `/p/<key>`, or a whole address. */
  readonly base?: string
  /** A bearer token. A page of the dashboard has a cookie instead. */
  readonly token?: string
  /** What a page with a cookie must send with each call, of `GET /api/session`. */
  readonly csrf?: () => string | null
}

export interface CallOptions {
  /** The same key and input are answered the same. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** Calls an operation. Fails with an `ApiFailure` where it is refused, or the server cannot be reached. */
export type ApiClient = <Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  options?: CallOptions,
) => Promise<OutputOf<Name>>

/** What a frame of the live feed shows. */
export type FrameEntity =
  | Exclude<EntityReference['kind'], 'workflow of task' | 'issue of inbox item' | 'refusal'>
  | 'workflow'

/** What a log entry did to one entity, as the live feed of `/ws` sends it. */
export interface Frame {
  readonly seq: number
  /** Its place among the frames of the log entry. */
  readonly n: number
  readonly event: `${FrameEntity}:${string}`
  readonly at: string
  readonly actor: Pick<Actor, 'name' | 'kind' | 'role' | 'channel'>
  /** The entity as it is now; null where it is gone. */
  readonly data: Readonly<Record<string, unknown>> | null
}

/** Why a call was refused, as the server says it. */
export class ApiFailure extends Error {
  /** `UNREACHABLE` where no server answered, or something else than Waymark did. */
  readonly code: ErrorCode | 'UNREACHABLE'
  /** Of HTTP; 0 where there was no answer. */
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

/** A client of one project. It imports types alone, so that a page that uses it carries no code of the server. */
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
    const said = await answerOf(await fetchOrFail(`${base}/api/${name}`, request))
    return said as OutputOf<typeof name> // what the server answers keeps to the contract
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
  const said: unknown = await response.json().catch(() => null)
  if (response.ok && said !== null) return said
  throw new ApiFailure(response.status, isErrorAnswer(said) ? said.error : {})
}

function isErrorAnswer(said: unknown): said is ErrorAnswer {
  return typeof said === 'object' && said !== null && 'error' in said
}

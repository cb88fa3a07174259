import type { Agent, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, type FailureCode, messageOf, type NextCall } from '../../kernel/failure.ts'
import { parseJson } from '../../kernel/json.ts'
import { outlineOf } from '../../kernel/json-outline.ts'
import { addressHeader, answerLimits, callLimits } from '../operations/protocol-limits.ts'
import { baseOf, type ConnectedServer } from './known-servers.ts'

/** The server did not answer a request. If it never arrived, nothing was recorded. */
class ServerUnavailable extends Failure {
  constructor(
    origin: string,
    why: string,
    message = `The server ${origin} cannot be reached; nothing was recorded. Try again.`,
    reason = 'server_unreachable',
  ) {
    super('UNAVAILABLE', message, {
      reason,
      hint: `waymark doctor shows more. ${why}`,
      details: { server: origin, why },
    })
    this.name = 'ServerAway'
  }
}

/** The connection failed, so an immediate retry is useless. */
class ServerUnreachable extends ServerUnavailable {}

/** The request was sent, but its result is unknown. A retry with the same key is recorded once. */
export class ServerAnswerLost extends ServerUnavailable {
  constructor(origin: string, why: string) {
    super(
      origin,
      why,
      `The server ${origin} did not answer, so the call may or may not be recorded. Try again.`,
      'server_silent',
    )
    this.name = 'NoAnswer'
  }
}

/** The server's refusal with its code; 401 and 426 do not come from an operation. */
export class ServerRefusal extends Failure {
  readonly status: number

  constructor(status: number, code: FailureCode, body: ServerErrorBody) {
    super(code, body.message, {
      ...(body.reason !== undefined && { reason: body.reason }),
      ...(body.hint !== undefined && { hint: body.hint }),
      ...(body.fix !== undefined && { fix: body.fix }),
      ...(body.details !== undefined && { details: body.details }),
    })
    this.name = 'ServerRefusal'
    this.status = status
  }
}

interface ServerErrorBody {
  readonly code?: string
  readonly reason?: string
  readonly message: string
  readonly hint?: string
  readonly fix?: NextCall
  readonly details?: Readonly<Record<string, unknown>>
}

/** The maximum time of a request with its retries, in milliseconds. */
const usualTimeout = 10_000

export interface ServerRequestOptions {
  /** Replaces the usual timeout, in milliseconds. */
  readonly within?: number
}

const minZippedBytes = 1_024

/**
 * The pauses before retries, in milliseconds: a proxy may have sent a request to a server that just ended.
 * Each call has a key, so a retry is recorded once.
 */
const pauses = [20, 60, 150, 400]

/**
 * An import of these modules loads all their parts, such as undici. That takes longer than the rest of a hook.
 */
function protocolOf(scheme: string) {
  return process.getBuiltinModule(scheme === 'https:' ? 'node:https' : 'node:http')
}

/** A header allows no other characters, and no token has them. */
function isToken(text: string): boolean {
  return /^[!-~]*$/.test(text)
}

/** Talks to one server, with the token that was given for it. Redirects are not followed. */
export class ServerClient {
  readonly server: ConnectedServer
  /** The maximum time of a call with all its requests, in milliseconds. */
  readonly timeout: number
  readonly #newerToken: () => string | null
  #token: string
  #keepAliveAgent: Agent | null = null

  constructor(
    server: ConnectedServer,
    {
      timeout = usualTimeout,
      newerToken = () => null,
    }: {
      readonly timeout?: number
      /** The token that the user connected with since; asked once the server refuses the present one. */
      readonly newerToken?: () => string | null
    } = {},
  ) {
    if (!isToken(server.token)) {
      throw new Failure(
        'INVALID_INPUT',
        `The token for ${server.origin} contains a space, a line break or another invalid character.`,
        {
          reason: 'token_invalid',
          hint: 'Copy it again, as waymark token create showed it, then connect with WAYMARK_TOKEN=<token>.',
        },
      )
    }
    this.server = server
    this.#token = server.token
    this.#newerToken = newerToken
    this.timeout = timeout
  }

  get #agent(): Agent {
    const { protocol } = new URL(this.server.origin)
    this.#keepAliveAgent ??= new (protocolOf(protocol).Agent)({ keepAlive: true, maxSockets: 16 })
    return this.#keepAliveAgent
  }

  async get(path: string, options: ServerRequestOptions = {}): Promise<unknown> {
    return this.#send({ method: 'GET', path, body: null }, options)
  }

  async post(path: string, body: object, options: ServerRequestOptions = {}): Promise<unknown> {
    const text = Buffer.from(JSON.stringify(body))
    const { maxBytes, maxPackedBytes } = callLimits
    if (text.length > maxBytes) throw tooLargeFailure(text.length, maxBytes)
    const sent = text.length > minZippedBytes ? await gzipText(text) : text
    if (sent.length > maxPackedBytes) throw tooLargeFailure(sent.length, maxPackedBytes)
    return this.#send({ method: 'POST', path, body: sent, isZipped: sent !== text }, options)
  }

  close(): void {
    this.#keepAliveAgent?.destroy()
  }

  async #send(
    {
      method,
      path,
      body,
      isZipped,
    }: { method: string; path: string; body: Buffer | null; isZipped?: boolean },
    options: ServerRequestOptions,
  ): Promise<unknown> {
    const { server } = this
    const within = options.within ?? this.timeout
    const url = new URL(`${baseOf(server)}${path}`)
    const headers = {
      ...(this.#token !== '' && { Authorization: `Bearer ${this.#token}` }),
      Accept: 'application/json',
      // The server uses this address in its answers: it does not know its own.
      [addressHeader]: baseOf(server),
      ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    }
    const { status, text } = await exchangeWithRetries(
      url,
      { method, headers, body, agent: this.#agent },
      within,
    )
    const newer = status === 401 ? this.#newerToken() : null
    if (newer !== null && newer !== this.#token && isToken(newer)) {
      this.#token = newer
      return this.#send({ method, path, body, ...(isZipped !== undefined && { isZipped }) }, options)
    }
    const answer = jsonOr(text)
    if (status >= 200 && status < 300 && answer !== undefined) return answer
    const error = errorIn(answer)
    if (error === null) throw new ServerAnswerLost(server.origin, `It answered ${status}.`)
    throw new ServerRefusal(status, codeOf(error.code), error)
  }
}

interface OutgoingRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: Buffer | null
  readonly agent: Agent
}

interface HttpReply {
  readonly status: number
  readonly text: string
}

/** Retries in the remaining time while no server answers. */
async function exchangeWithRetries(url: URL, sent: OutgoingRequest, within: number): Promise<HttpReply> {
  const until = performance.now() + within
  for (const pause of pauses) {
    const received = await exchange(url, sent, until - performance.now()).catch((error: unknown) => {
      if (error instanceof ServerUnreachable || !(error instanceof ServerUnavailable)) throw error
      return error
    })
    if (!(received instanceof ServerUnavailable) && !isFromProxy(received)) return received
    if (until - performance.now() - pause <= 0) {
      if (received instanceof ServerUnavailable) throw received
      return received
    }
    await sleep(pause)
  }
  return exchange(url, sent, until - performance.now())
}

/** Whether a proxy answered instead of the server, which sends its errors as JSON. */
function isFromProxy({ status, text }: HttpReply): boolean {
  return [502, 503, 504].includes(status) && errorIn(jsonOr(text)) === null
}

function exchange(url: URL, { body, ...sent }: OutgoingRequest, within: number): Promise<HttpReply> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpReply>()
  let isConnected = false
  const request = protocolOf(url.protocol).request(url, sent, (response) => {
    void textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), failureOf)
  })
  const failureOf = (error: unknown) => {
    if (error instanceof Failure) return reject(error)
    const Unavailable = isConnected ? ServerAnswerLost : ServerUnreachable
    reject(new Unavailable(url.origin, `${messageOf(error)}.`))
  }
  const answering = startIdleTimer(within, () => request.destroy(new Error(`no answer within ${within} ms`)))
  request.once('socket', (socket) => {
    isConnected = request.reusedSocket || !socket.connecting
    if (isConnected) return
    socket.once('connect', () => {
      isConnected = true
    })
  })
  request.once('error', failureOf)
  request.end(body ?? undefined)
  return promise.finally(answering.stop)
}

/**
 * Gives up after a timeout. A process that was suspended, or a machine that slept, gets the time once more.
 */
function startIdleTimer(milliseconds: number, giveUp: () => void): { readonly stop: () => void } {
  let timer: NodeJS.Timeout
  const begin = (isAgain: boolean) => {
    const due = performance.now() + milliseconds
    timer = setTimeout(() => {
      const wasSuspended = performance.now() - due > maxTimerLagMs
      if (wasSuspended && !isAgain) begin(true)
      else giveUp()
    }, milliseconds)
  }
  begin(false)
  return { stop: () => clearTimeout(timer) }
}

const maxTimerLagMs = 50

function gzipText(text: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    process.getBuiltinModule('node:zlib').gzip(text, (error, zip) => {
      if (error) reject(error)
      else resolve(zip)
    })
  })
}

function tooLargeFailure(bytes: number, maxBytes: number): Failure {
  return new Failure('REFUSED', `The measurement has ${bytes} bytes; a server accepts ${maxBytes}.`, {
    reason: 'answer_too_large',
    hint: 'Ignore generated files with .gitignore, so that they are not measured.',
  })
}

/** Stops reading at the size limit: a server may send without end. */
async function textOf(response: IncomingMessage): Promise<string> {
  const { maxBytes } = answerLimits
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    const part = Buffer.from(chunk)
    size += part.length
    if (size > maxBytes) {
      response.destroy()
      throw new Failure('REFUSED', `The answer of the server has more than ${maxBytes} bytes.`, {
        reason: 'answer_too_large',
        hint: 'Use a lower limit.',
      })
    }
    chunks.push(part)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonOr(text: string): unknown {
  const { tooDeep, values } = outlineOf(text, answerLimits.maxValues)
  if (tooDeep || values > answerLimits.maxValues) return undefined
  return parseJson(text)
}

function errorIn(answer: unknown): ServerErrorBody | null {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return null
  const { error } = answer
  if (typeof error !== 'object' || error === null || !('message' in error)) return null
  return typeof error.message === 'string' ? (error as ServerErrorBody) : null // as the server writes them
}

const codes = {
  INVALID_INPUT: true,
  NOT_FOUND: true,
  CONFLICT: true,
  REFUSED: true,
  FORBIDDEN: true,
  IDEMPOTENCY_KEY_REUSED: true,
  UNAVAILABLE: true,
  INTERNAL: true,
  RUN_NOT_FOUND: true,
  PROCESS_NOT_FOUND: true,
  RUN_FINISHED: true,
  REVISION_CONFLICT: true,
  INVALID_EVENT: true,
  INVALID_PAYLOAD: true,
  GUARD_FAILED: true,
} as const satisfies Record<FailureCode, true>

/** Maps codes that only HTTP has to those of callers. */
function codeOf(code: string | undefined): FailureCode {
  if (code !== undefined && Object.hasOwn(codes, code)) return code as FailureCode // one of its keys
  return code === 'UNAUTHENTICATED' ? 'FORBIDDEN' : 'UNAVAILABLE'
}

import type { Agent, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, type FailureCode, messageOf, type NextCall } from '../../kernel/failure.ts'
import { parseJson } from '../../kernel/json.ts'
import { outlineOf } from '../../kernel/json-outline.ts'
import { addressHeader, answerLimits, callLimits } from '../operations/contract.ts'
import { baseOf, type ConnectedServer } from './known-servers.ts'

/** Why a request was not answered. Nothing was recorded where it did not even arrive. */
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

/** Nothing listens there, or nothing says so in time: there is no use in asking again at once. */
class ServerUnreachable extends ServerUnavailable {}

/** It was sent, and what came of it is not known: the same call again, with its key, is recorded once. */
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

/** What the server refused, with its own code; 401 and 426 are none of an operation's. */
export class ServerRefusal extends Failure {
  readonly status: number

  constructor(status: number, code: FailureCode, said: ServerErrorBody) {
    super(code, said.message, {
      ...(said.reason !== undefined && { reason: said.reason }),
      ...(said.hint !== undefined && { hint: said.hint }),
      ...(said.fix !== undefined && { fix: said.fix }),
      ...(said.details !== undefined && { details: said.details }),
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

/** How long a request takes at most, with all its repetitions, in milliseconds. */
const usualTimeout = 10_000

export interface ServerRequestOptions {
  /** In place of the usual time. */
  readonly within?: number
}

const longBody = 1_024

/**
 * How long is waited before a request goes out once more, in milliseconds. A proxy before several servers may have sent
 * it to one that just ended; whatever it asks for has a name, so that it is done once, however often it is sent.
 */
const pauses = [20, 60, 150, 400]

/**
 * Imported as a module, either of them loads all that it offers at once, undici among it: that takes longer than
 * everything else that a hook does.
 */
function protocolOf(scheme: string) {
  return process.getBuiltinModule(scheme === 'https:' ? 'node:https' : 'node:http')
}

/** Talks to one server, with the token that was given for it. Redirects are not followed. */
export class ServerClient {
  readonly server: ConnectedServer
  /** How long a call waits for the server at most, with all its requests, in milliseconds. */
  readonly timeout: number
  #kept: Agent | null = null

  constructor(server: ConnectedServer, { timeout = usualTimeout }: { readonly timeout?: number } = {}) {
    // A header takes nothing else, and no token has more.
    if (!/^[!-~]*$/.test(server.token)) {
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
    this.timeout = timeout
  }

  get #agent(): Agent {
    const { protocol } = new URL(this.server.origin)
    this.#kept ??= new (protocolOf(protocol).Agent)({ keepAlive: true, maxSockets: 16 })
    return this.#kept
  }

  async get(path: string, asking: ServerRequestOptions = {}): Promise<unknown> {
    return this.#send({ method: 'GET', path, body: null }, asking)
  }

  async post(path: string, body: object, asking: ServerRequestOptions = {}): Promise<unknown> {
    const text = Buffer.from(JSON.stringify(body))
    const { maxBytes, maxPackedBytes } = callLimits
    if (text.length > maxBytes) throw tooLargeFailure(text.length, maxBytes)
    const sent = text.length > longBody ? await gzipText(text) : text
    if (sent.length > maxPackedBytes) throw tooLargeFailure(sent.length, maxPackedBytes)
    return this.#send({ method: 'POST', path, body: sent, isZipped: sent !== text }, asking)
  }

  close(): void {
    this.#kept?.destroy()
  }

  async #send(
    {
      method,
      path,
      body,
      isZipped,
    }: { method: string; path: string; body: Buffer | null; isZipped?: boolean },
    asking: ServerRequestOptions,
  ): Promise<unknown> {
    const { server } = this
    const within = asking.within ?? this.timeout
    const url = new URL(`${baseOf(server)}${path}`)
    const headers = {
      ...(server.token !== '' && { Authorization: `Bearer ${server.token}` }),
      Accept: 'application/json',
      // What the server calls itself in its answers: it does not know under which address it is reached.
      [addressHeader]: baseOf(server),
      ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    }
    const { status, text } = await exchangeWithRetries(
      url,
      { method, headers, body, agent: this.#agent },
      within,
    )
    const said = jsonOr(text)
    if (status >= 200 && status < 300 && said !== undefined) return said
    const error = errorIn(said)
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

/** Sends it again where what came is no answer of a server, as long as there is time for one. */
async function exchangeWithRetries(url: URL, sent: OutgoingRequest, within: number): Promise<HttpReply> {
  const until = performance.now() + within
  for (const pause of pauses) {
    const received = await exchange(url, sent, until - performance.now()).catch((error: unknown) => {
      if (error instanceof ServerUnreachable || !(error instanceof ServerUnavailable)) throw error
      return error
    })
    if (!(received instanceof ServerUnavailable) && !isOfProxy(received)) return received
    if (until - performance.now() - pause <= 0) {
      if (received instanceof ServerUnavailable) throw received
      return received
    }
    await sleep(pause)
  }
  return exchange(url, sent, until - performance.now())
}

/** Whether something before the server says that it cannot reach it: a server says in JSON why it cannot answer. */
function isOfProxy({ status, text }: HttpReply): boolean {
  return [502, 503, 504].includes(status) && errorIn(jsonOr(text)) === null
}

function exchange(url: URL, { body, ...sent }: OutgoingRequest, within: number): Promise<HttpReply> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpReply>()
  let isConnected = false
  const request = protocolOf(url.protocol).request(url, sent, (response) => {
    void textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), failed)
  })
  const failed = (error: unknown) => {
    if (error instanceof Failure) return reject(error)
    const Away = isConnected ? ServerAnswerLost : ServerUnreachable
    reject(new Away(url.origin, `${messageOf(error)}.`))
  }
  const answering = startIdleTimer(within, () => request.destroy(new Error(`no answer within ${within} ms`)))
  request.once('socket', (socket) => {
    isConnected = request.reusedSocket || !socket.connecting
    if (isConnected) return
    socket.once('connect', () => {
      isConnected = true
    })
  })
  request.once('error', failed)
  request.end(body ?? undefined)
  return promise.finally(answering.stop)
}

/**
 * Gives up when the time is over. A process that stood still until then, or a machine that slept, gets that time once
 * more: it heard nothing meanwhile.
 */
function startIdleTimer(milliseconds: number, giveUp: () => void): { readonly stop: () => void } {
  let timer: NodeJS.Timeout
  const begin = (isAgain: boolean) => {
    const due = performance.now() + milliseconds
    timer = setTimeout(() => {
      const stoodStill = performance.now() - due > lateBy
      if (stoodStill && !isAgain) begin(true)
      else giveUp()
    }, milliseconds)
  }
  begin(false)
  return { stop: () => clearTimeout(timer) }
}

const lateBy = 50

function gzipText(text: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    process.getBuiltinModule('node:zlib').gzip(text, (error, zip) => {
      if (error) reject(error)
      else resolve(zip)
    })
  })
}

function tooLargeFailure(bytes: number, most: number): Failure {
  return new Failure('REFUSED', `The measurement has ${bytes} bytes; a server accepts ${most}.`, {
    reason: 'answer_too_large',
    hint: 'Ignore generated files with .gitignore, so that they are not measured.',
  })
}

/** An answer that is longer is not read to its end: a server may send without end. */
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

function errorIn(said: unknown): ServerErrorBody | null {
  if (typeof said !== 'object' || said === null || !('error' in said)) return null
  const { error } = said
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

/** What only HTTP says becomes what it comes to for a caller. */
function codeOf(code: string | undefined): FailureCode {
  if (code !== undefined && Object.hasOwn(codes, code)) return code as FailureCode // one of its keys
  return code === 'UNAUTHENTICATED' ? 'FORBIDDEN' : 'UNAVAILABLE'
}

import type { Agent, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, type FailureCode, messageOf } from '../domain/failure.ts'
import { outlineOf } from '../domain/json-outline.ts'
import { addressHeader, answerLimits, callLimits } from '../operations/edge/contract.ts'
import { baseOf, type ConnectedServer } from './origins.ts'

/** Why a request was not answered: the server cannot be reached, or something before it cannot reach it. */
export class ServerAway extends Failure {
  override readonly reason: string

  constructor(origin: string, why: string) {
    super('UNAVAILABLE', `The server at ${origin} cannot be reached: ${why}.`, {
      hint: 'The work here goes on; waymark status says what waits for the server.',
    })
    this.name = 'ServerAway'
    this.reason = why
  }
}

/** Nothing listens there, or nothing says so in time: there is no use in asking again at once. */
class NoConnection extends ServerAway {}

/** What the server refused, with its own code; 401 and 426 are none of an operation's. */
export class ServerRefusal extends Failure {
  readonly status: number

  constructor(status: number, code: FailureCode, said: SaidError) {
    super(code, said.message, {
      ...(said.hint !== undefined && { hint: said.hint }),
      ...(said.details !== undefined && { details: said.details }),
    })
    this.name = 'ServerRefusal'
    this.status = status
  }
}

interface SaidError {
  readonly code?: string
  readonly message: string
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
}

export interface Asking {
  /** Milliseconds until a connection must be there. */
  readonly connect?: number
  /** Milliseconds until the answer must be there; a call may wait for a minute at the server. */
  readonly answer?: number
}

const usual = { connect: 2_000, answer: 150_000 }
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
  #kept: Agent | null = null

  constructor(server: ConnectedServer) {
    this.server = server
  }

  get #agent(): Agent {
    const { protocol } = new URL(this.server.origin)
    this.#kept ??= new (protocolOf(protocol).Agent)({ keepAlive: true, maxSockets: 16 })
    return this.#kept
  }

  async get(path: string, asking: Asking = {}): Promise<unknown> {
    return this.#send({ method: 'GET', path, body: null }, asking)
  }

  async post(path: string, body: object, asking: Asking = {}): Promise<unknown> {
    const text = Buffer.from(JSON.stringify(body))
    const { maxBytes, maxPackedBytes } = callLimits
    if (text.length > maxBytes) throw tooMuch(text.length, maxBytes)
    const sent = text.length > longBody ? await zipped(text) : text
    if (sent.length > maxPackedBytes) throw tooMuch(sent.length, maxPackedBytes)
    return this.#send({ method: 'POST', path, body: sent, isZipped: sent !== text }, asking)
  }

  /** Resolves where the server answers, and fails with `ServerAway` where it does not. No token is sent. */
  async isThere(): Promise<void> {
    const { origin } = this.server
    const asked = { method: 'GET', headers: {}, body: null, agent: this.#agent }
    const { status } = await exchangeAgain(new URL(`${origin}/healthz`), asked, { answer: 4_000 })
    if (status >= 500) throw new ServerAway(origin, `it answers ${status}`)
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
    asking: Asking,
  ): Promise<unknown> {
    const { server } = this
    const url = new URL(`${baseOf(server)}${path}`)
    const headers = {
      Authorization: `Bearer ${server.token}`,
      Accept: 'application/json',
      // What the server calls itself in its answers: it does not know under which address it is reached.
      [addressHeader]: baseOf(server),
      ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    }
    const { status, text } = await exchangeAgain(url, { method, headers, body, agent: this.#agent }, asking)
    const said = jsonOr(text)
    if (status >= 200 && status < 300 && said !== undefined) return said
    const error = errorIn(said)
    if (error === null) throw new ServerAway(server.origin, `it answered ${status}`)
    throw new ServerRefusal(status, codeOf(error.code), error)
  }
}

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: Buffer | null
  readonly agent: Agent
}

interface Received {
  readonly status: number
  readonly text: string
}

/** Sends it again where what came is no answer of a server, as long as there is time for one. */
async function exchangeAgain(url: URL, sent: Sent, asking: Asking): Promise<Received> {
  const until = performance.now() + (asking.answer ?? 2 * usual.answer)
  for (const pause of pauses) {
    const received = await exchange(url, sent, asking).catch((error: unknown) => {
      if (error instanceof NoConnection || !(error instanceof ServerAway)) throw error
      return error
    })
    if (!(received instanceof ServerAway) && !isOfProxy(received)) return received
    const left = until - performance.now() - pause
    if (left <= 0) {
      if (received instanceof ServerAway) throw received
      return received
    }
    await sleep(pause)
  }
  return exchange(url, sent, {
    ...asking,
    answer: Math.min(asking.answer ?? usual.answer, until - performance.now()),
  })
}

/** Whether something before the server says that it cannot reach it: a server says in JSON why it cannot answer. */
function isOfProxy({ status, text }: Received): boolean {
  return [502, 503, 504].includes(status) && errorIn(jsonOr(text)) === null
}

function exchange(url: URL, { body, ...sent }: Sent, asking: Asking): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  let isConnected = false
  const request = protocolOf(url.protocol).request(url, sent, (response) => {
    void textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), failed)
  })
  const failed = (error: unknown) => {
    const Away = isConnected ? ServerAway : NoConnection
    reject(new Away(url.origin, messageOf(error)))
  }
  const connecting = unlessHeard(asking.connect ?? usual.connect, () =>
    request.destroy(new Error('no connection within 2 seconds')),
  )
  const answering = unlessHeard(asking.answer ?? usual.answer, () =>
    request.destroy(new Error('no answer in time')),
  )
  request.once('socket', (socket) => {
    isConnected = request.reusedSocket || !socket.connecting
    if (isConnected) return connecting.stop()
    socket.once('connect', () => {
      isConnected = true
    })
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connecting.stop)
  })
  request.once('error', failed)
  request.end(body ?? undefined)
  return promise.finally(() => {
    connecting.stop()
    answering.stop()
  })
}

/**
 * Gives up when the time is over. A process that stood still until then, or a machine that slept, first hears what came
 * meanwhile: timers go before what was received.
 */
function unlessHeard(milliseconds: number, giveUp: () => void): { readonly stop: () => void } {
  let late: NodeJS.Immediate | null = null
  const timer = setTimeout(() => {
    late = setImmediate(giveUp)
  }, milliseconds)
  const stop = () => {
    clearTimeout(timer)
    if (late !== null) clearImmediate(late)
  }
  return { stop }
}

function zipped(text: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    process.getBuiltinModule('node:zlib').gzip(text, (error, zip) => {
      if (error) reject(error)
      else resolve(zip)
    })
  })
}

function tooMuch(bytes: number, most: number): Failure {
  return new Failure('REFUSED', `What was measured has ${bytes} bytes; a server reads ${most}.`, {
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
    if (size > maxBytes) throw new Error(`its answer has more than ${maxBytes} bytes`)
    chunks.push(part)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonOr(text: string): unknown {
  const { tooDeep, values } = outlineOf(text)
  if (tooDeep || values > answerLimits.maxValues) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorIn(said: unknown): SaidError | null {
  if (typeof said !== 'object' || said === null || !('error' in said)) return null
  const { error } = said
  if (typeof error !== 'object' || error === null || !('message' in error)) return null
  return typeof error.message === 'string' ? (error as SaidError) : null // as the server writes them
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

import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Actor } from '../../../kernel/actor.ts'
import { messageOf } from '../../../kernel/failure.ts'
import { ResourceWatch } from '../resources/subscriptions.ts'
import { createServer } from '../server.ts'
import { CallOrder } from '../tools/call-order.ts'
import {
  createSurface,
  defaultLimits,
  type EndpointParts,
  type McpSessionLimits,
  type PostedMessage,
  type RequestSender,
} from './endpoint-parts.ts'
import { onResponseEnd, refuse, refusedArguments, sessionNotFound } from './responses.ts'

const sweep = 60_000

/** 2025-11-25 and older: a session for each client, started by `initialize`. */
export class LegacyTransport {
  readonly #parts: EndpointParts
  readonly #sessions: McpSessions
  readonly #sweeping: NodeJS.Timeout

  constructor(parts: EndpointParts) {
    this.#parts = parts
    this.#sessions = new McpSessions({ ...defaultLimits, ...parts.options.limits })
    this.#sweeping = setInterval(() => void this.#sessions.endIdle(), sweep).unref()
  }

  /** The stream of notifications, or the end of a session. */
  async handleWithoutBody(request: Request, caller: RequestSender): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'DELETE') return notAllowed(request.method)
    const id = request.headers.get('mcp-session-id')
    if (id === null) return notAllowed(`${request.method} without Mcp-Session-Id`)
    return this.#sessions.find(id, caller)?.handle(request) ?? sessionNotFound()
  }

  async handle({ request, body, caller }: PostedMessage): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null)
      return isInitializeRequest(body) ? this.#begin({ request, body, caller }) : withoutSession()
    const session = this.#sessions.find(id, caller)
    if (!session) return sessionNotFound()
    return refusedArguments(body) ?? session.handle(request, body)
  }

  revoke(actor: Actor): void {
    this.#sessions.revoke(actor)
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await this.#sessions.endAll()
  }

  async #begin({ request, body, caller }: PostedMessage): Promise<Response> {
    await this.#sessions.makeRoom()
    const removeSession = (session: McpSession) => this.#sessions.remove(session)
    const session = new McpSession({ ...this.#parts, caller, onEnd: removeSession })
    return this.#sessions.add(session) ? session.begin(request, body) : tooManySessions(this.#sessions.size)
  }
}

function notAllowed(what: string): Response {
  return refuse({
    status: 405,
    message: `${what} is not served. POST messages; GET and DELETE belong to a session.`,
    headers: { Allow: 'POST' },
  })
}

function withoutSession(): Response {
  return refuse({
    status: 400,
    message:
      'Bad Request: Mcp-Session-Id header is required. Begin with "initialize", or send the _meta of 2026-07-28 with each request.',
  })
}

function tooManySessions(open: number): Response {
  return refuse({
    status: 503,
    message: `${open} sessions are open and all of them in use. End one with DELETE, then initialize again.`,
    headers: { 'Retry-After': '60' },
  })
}

/** The sessions of one project, limited in number and idle time. */
class McpSessions {
  readonly #limits: McpSessionLimits
  readonly #byId = new Map<string, McpSession>()

  constructor(limits: McpSessionLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#byId.size
  }

  /** Adds a session if there is room. */
  add(session: McpSession): boolean {
    if (this.#byId.size >= this.#limits.sessions) return false
    this.#byId.set(session.id, session)
    return true
  }

  remove(session: McpSession): void {
    this.#byId.delete(session.id)
  }

  /** The session of an id, if this caller started it. */
  find(id: string, { owner }: RequestSender): McpSession | undefined {
    const session = this.#byId.get(id)
    return session?.owner === owner ? session : undefined
  }

  /** Ends sessions that were idle for too long. */
  async endIdle(): Promise<void> {
    await end(this.#unusedSessions().filter(({ unusedFor }) => (unusedFor ?? 0) >= this.#limits.idle))
  }

  /** Makes room for one more, if necessary by ending the longest idle one. */
  async makeRoom(): Promise<void> {
    await this.endIdle()
    if (this.#byId.size >= this.#limits.sessions) await end(this.#unusedSessions().slice(0, 1))
  }

  /** Ends the sessions of a caller who lost access. */
  revoke(actor: Actor): void {
    for (const session of Array.from(this.#byId.values())) {
      if (session.belongsTo(actor)) void session.breakOff()
    }
  }

  async endAll(): Promise<void> {
    await end([...this.#byId.values()])
  }

  #unusedSessions(): readonly McpSession[] {
    return [...this.#byId.values()]
      .filter(({ unusedFor }) => unusedFor !== null)
      .sort((one, other) => (other.unusedFor ?? 0) - (one.unusedFor ?? 0))
  }
}

async function end(sessions: readonly McpSession[]): Promise<void> {
  await Promise.all(sessions.map((session) => session.close()))
}

export interface SessionOptions extends EndpointParts {
  readonly caller: RequestSender
  readonly onEnd: (session: McpSession) => void
}

/** A session of the older era: the state of a client across requests. */
class McpSession {
  readonly id = crypto.randomUUID()
  /** The owner of the token that started it. */
  readonly owner: string
  readonly #options: SessionOptions
  readonly #transport: WebStandardStreamableHTTPServerTransport
  readonly #order = new CallOrder()
  readonly #watch: ResourceWatch
  #open = 1 // not idle before its first request
  #usedAt = performance.now()

  constructor(options: SessionOptions) {
    this.#options = options
    this.owner = options.caller.owner
    this.#watch = new ResourceWatch(options.feed)
    this.#watch.hold()
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.id,
    })
  }

  /** Answers the request that starts it. */
  async begin(request: Request, body: unknown): Promise<Response> {
    const { caller, tools, options } = this.#options
    const surface = createSurface(this.#options, caller, this.id.slice(0, 8))
    const connection = { era: 'legacy', tools, order: this.#order, watch: this.#watch } as const
    const server = (options.serverOf ?? createServer)(surface, connection)
    server.onclose = () => {
      this.#watch.stop()
      this.#options.onEnd(this)
    }
    await server.connect(this.#transport)
    const response = await this.handle(request, body)
    this.#open -= 1
    if (!response.ok) await this.close()
    return response
  }

  /** Milliseconds since its last request; null while a stream is open. */
  get unusedFor(): number | null {
    return this.#open > 0 ? null : performance.now() - this.#usedAt
  }

  async handle(request: Request, body?: unknown): Promise<Response> {
    this.#open += 1
    const over = () => {
      this.#open -= 1
      this.#usedAt = performance.now()
    }
    try {
      if (request.method === 'GET') return onResponseEnd(await this.#stream(request), over)
      const parsed = body === undefined ? {} : { parsedBody: body }
      return onResponseEnd(await this.#transport.handleRequest(request, parsed), over)
    } catch (error) {
      over()
      throw error
    }
  }

  belongsTo({ name, kind, channel, identity }: Actor): boolean {
    const { actor } = this.#options.caller
    if (actor.identity !== identity) return false
    return actor.name === name && actor.kind === kind && actor.channel === channel
  }

  /** Ends now, without answering running requests. */
  async breakOff(): Promise<void> {
    await this.#transport.close()
  }

  /** Answers running requests, then ends. */
  async close(): Promise<void> {
    await this.#order.idle()
    await new Promise(setImmediate) // until the answers are written
    await this.#transport.close()
  }

  /** The stream of notifications. Sends the notifications that waited for it. */
  async #stream(request: Request): Promise<Response> {
    await this.#listenForList()
    const response = await this.#transport.handleRequest(request)
    if (!response.ok) return response
    this.#watch.release()
    return onResponseEnd(response, () => this.#watch.hold())
  }

  /** A client that once opened the stream learns of changed resource lists until the session ends. */
  async #listenForList(): Promise<void> {
    try {
      await this.#watch.listen('list')
    } catch (error) {
      this.#options.options.log(`Changes cannot be announced: ${messageOf(error)}`)
    }
  }
}

import { isInitializeRequest } from '@modelcontextprotocol/server'
import type { Actor } from '../../../domain/actor.ts'
import type { Caller } from './caller.ts'
import { defaultLimits } from './options.ts'
import type { Posted, Serving } from './project.ts'
import { refuse, sessionNotFound } from './refusal.ts'
import { refusedArguments } from './refused-arguments.ts'
import { Session } from './session.ts'
import { Sessions } from './sessions.ts'

const sweep = 60_000

/** 2025-11-25 and older: a session for each client, begun by `initialize`. */
export class LegacyLeg {
  readonly #serving: Serving
  readonly #sessions: Sessions
  readonly #sweeping: NodeJS.Timeout

  constructor(serving: Serving) {
    this.#serving = serving
    this.#sessions = new Sessions({ ...defaultLimits, ...serving.options.limits })
    this.#sweeping = setInterval(() => void this.#sessions.endIdle(), sweep).unref()
  }

  /** The stream of notifications, or the end of a session. */
  async handleWithoutBody(request: Request, caller: Caller): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'DELETE') return notAllowed(request.method)
    const id = request.headers.get('mcp-session-id')
    if (id === null) return notAllowed(`${request.method} without Mcp-Session-Id`)
    return this.#sessions.find(id, caller)?.handle(request) ?? sessionNotFound()
  }

  async handle({ request, body, caller }: Posted): Promise<Response> {
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

  async #begin({ request, body, caller }: Posted): Promise<Response> {
    await this.#sessions.makeRoom()
    const ended = (session: Session) => this.#sessions.remove(session)
    const session = new Session({ ...this.#serving, caller, ended })
    return this.#sessions.add(session) ? session.begin(request, body) : tooMany(this.#sessions.size)
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

function tooMany(open: number): Response {
  return refuse({
    status: 503,
    message: `${open} sessions are open and all of them in use. End one with DELETE, then initialize again.`,
    headers: { 'Retry-After': '60' },
  })
}

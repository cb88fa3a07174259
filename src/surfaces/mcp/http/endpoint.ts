import { isJsonContentType, isLegacyRequest, readRequestBody } from '@modelcontextprotocol/server'
import type { Actor } from '../../../domain/actor.ts'
import { outlineOf } from '../../../domain/json-outline.ts'
import { tooDeep } from '../mistaken-arguments.ts'
import type { JournalFeed } from '../resources/journal-feed.ts'
import { callerOf } from './caller.ts'
import { LegacyLeg } from './legacy-leg.ts'
import { ModernLeg } from './modern-leg.ts'
import type { Posted, Serving } from './project.ts'
import { parseError, refuse } from './refusal.ts'

/** MCP of one project over Streamable HTTP, in both eras, with one follower of its journal. */
export class Endpoint {
  readonly #feed: JournalFeed
  readonly #modern: ModernLeg
  readonly #legacy: LegacyLeg

  constructor({ feed, ...serving }: Serving) {
    this.#feed = feed
    this.#modern = new ModernLeg({ feed, ...serving })
    this.#legacy = new LegacyLeg({ feed, ...serving })
  }

  async handle(request: Request, actor: Actor): Promise<Response> {
    const caller = callerOf(request, actor)
    if (request.method !== 'POST') return this.#legacy.handleWithoutBody(request, caller)
    if (!isJsonContentType(request.headers.get('content-type'))) return unsupportedType()
    const read = await readRequestBody(request).catch(() => null)
    if (read?.tooLarge) return tooLarge()
    const outline = outlineOf(read?.text ?? '')
    if (outline.tooDeep) return refuse({ status: 400, ...tooDeep, id: outline.id })
    const body = read && parsed(read.text)
    if (body === undefined || read === null) return parseError()
    return this.#handleMessage({ request, body, caller })
  }

  revoke(actor: Actor): void {
    this.#legacy.revoke(actor)
  }

  /** Answers what is asked, then ends every stream and session. */
  async close(): Promise<void> {
    await Promise.all([this.#modern.close(), this.#legacy.close()])
    this.#feed.stop()
  }

  async #handleMessage(message: Posted): Promise<Response> {
    const legacy = await isLegacyRequest(message.request, message.body)
    return legacy ? this.#legacy.handle(message) : this.#modern.handle(message)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function tooLarge(): Response {
  return refuse({ status: 413, message: 'Payload Too Large: a message has at most 4 MiB.' })
}

function unsupportedType(): Response {
  return refuse({ status: 415, message: 'Unsupported Media Type: Content-Type must be application/json.' })
}

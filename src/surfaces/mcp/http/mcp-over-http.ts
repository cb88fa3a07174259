import { isJsonContentType, isLegacyRequest, readRequestBody } from '@modelcontextprotocol/server'
import type { Actor } from '../../../domain/actor.ts'
import { outlineOf } from '../../../domain/json-outline.ts'
import { tooDeep } from '../malformed-params.ts'
import { JournalFeed } from '../resources/journal-feed.ts'
import { offeredTools } from '../tools/tool-list.ts'
import {
  type EndpointParts,
  type McpOverHttpOptions,
  type McpProject,
  type PostedMessage,
  senderOf,
} from './endpoint-parts.ts'
import { LegacyTransport } from './legacy-transport.ts'
import { ModernTransport } from './modern-transport.ts'
import { parseError, refuse } from './responses.ts'

export interface McpOverHttp {
  /** Answers a request whose origin, token and size were checked. */
  handle(request: Request, project: McpProject, actor: Actor): Promise<Response>
  /** Ends at once what is open for somebody who is let in no more. */
  revoke(actor: Actor): void
  /** Answers what is asked, then ends every stream and session. Later requests are refused. */
  shutdown(): Promise<void>
}

/** Serves MCP over Streamable HTTP, in both eras of the protocol. */
export function createMcpOverHttp(options: McpOverHttpOptions): McpOverHttp {
  const endpoints = new Map<string, Endpoint>()
  const tools = offeredTools(options)
  let stopping = false

  const endpointOf = (project: McpProject, actor: Actor): Endpoint => {
    const known = endpoints.get(project.key)
    if (known) return known
    const contextOf = () => project.contextOf(actor)
    const feed = new JournalFeed({ store: () => contextOf().store, log: options.log })
    const endpoint = new Endpoint({ options, project, tools, feed, contextOf })
    endpoints.set(project.key, endpoint)
    return endpoint
  }

  return {
    handle: async (request, project, actor) => {
      if (stopping) return refuse({ status: 503, message: 'The server is stopping.' })
      return endpointOf(project, actor).handle(request, actor)
    },
    revoke: (actor) => {
      for (const endpoint of endpoints.values()) endpoint.revoke(actor)
    },
    shutdown: async () => {
      stopping = true
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()))
    },
  }
}

/** MCP of one project over Streamable HTTP, in both eras, with one follower of its journal. */
class Endpoint {
  readonly #feed: JournalFeed
  readonly #modern: ModernTransport
  readonly #legacy: LegacyTransport

  constructor({ feed, ...serving }: EndpointParts) {
    this.#feed = feed
    this.#modern = new ModernTransport({ feed, ...serving })
    this.#legacy = new LegacyTransport({ feed, ...serving })
  }

  async handle(request: Request, actor: Actor): Promise<Response> {
    const caller = senderOf(request, actor)
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

  async #handleMessage(message: PostedMessage): Promise<Response> {
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

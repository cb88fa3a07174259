import {
  isJsonContentType,
  isLegacyRequest,
  ProtocolError,
  readRequestBody,
} from '@modelcontextprotocol/server'
import type { Actor } from '../../../kernel/actor.ts'
import { parseJson } from '../../../kernel/json.ts'
import { outlineOf } from '../../../kernel/json-outline.ts'
import type { Context, Toolset } from '../../../kernel/operations/operation.ts'
import { tooDeep } from '../malformed-params.ts'
import { EventLogFeed } from '../resources/event-feed.ts'
import { CallOrder } from '../tools/call-order.ts'
import { callTool } from '../tools/call-tool.ts'
import { type OfferedTools, offeredTools } from '../tools/tool-list.ts'
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
  /** Answers a request after the checks of origin, token and size. */
  handle(request: Request, project: McpProject, actor: Actor): Promise<Response>
  /** Calls a tool for another machine: `{ result }`, or `{ protocol_error }`. */
  callTool(context: Context, call: RemoteToolRequest): Promise<object>
  /** The current tools of a project: all, or those of some toolsets, such as `plan,track`. */
  listTools(context: Context, toolsets: string): Promise<readonly object[]>
  /** Closes all connections of a caller who lost access. */
  revoke(actor: Actor): void
  /** Answers running requests, then ends every stream and session. Later requests are refused. */
  shutdown(): Promise<void>
}

export interface RemoteToolRequest {
  readonly tool: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly can_ask?: boolean | undefined
  readonly responses?: Record<string, unknown> | undefined
}

const toolsets: readonly Toolset[] = ['plan', 'track', 'gate']

/** Serves MCP over Streamable HTTP, in both eras of the protocol. */
export function createMcpOverHttp(options: McpOverHttpOptions): McpOverHttp {
  const endpoints = new Map<McpProject, Endpoint>()
  const tools = offeredTools(options)
  const lists = new Map<string, OfferedTools>()
  const listedIn = (wanted: string): OfferedTools => {
    const sets = toolsets.filter((set) => wanted.split(',').includes(set))
    const toolsetsOfList = wanted === 'auto' ? 'auto' : sets.length === 0 ? options.toolsets : sets
    const key = String(toolsetsOfList)
    const list = lists.get(key) ?? offeredTools({ ...options, toolsets: toolsetsOfList })
    lists.set(key, list)
    return list
  }
  let stopping = false

  const endpointOf = (project: McpProject, actor: Actor): Endpoint => {
    const existing = endpoints.get(project)
    if (existing) return existing
    const contextOf = () => project.contextOf(actor)
    const feed = new EventLogFeed({ store: () => contextOf().store, log: options.log })
    const endpoint = new Endpoint({ options, project, tools, feed, contextOf })
    endpoints.set(project, endpoint)
    return endpoint
  }

  return {
    handle: async (request, project, actor) => {
      if (stopping) return refuse({ status: 503, message: 'The server is stopping.' })
      return endpointOf(project, actor).handle(request, actor)
    },
    callTool: async (context, call) => {
      const { catalog, log } = options
      const toolCall = {
        params: { name: call.tool, arguments: { ...call.arguments } },
        meta: call.meta,
        context,
        asking: { catalog, canAsk: call.can_ask ?? false, responses: call.responses },
      }
      try {
        return { result: await callTool({ tools, order: new CallOrder(), log }, toolCall) }
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        return { protocol_error: { code: error.code, message: error.message } }
      }
    },
    listTools: async (context, wanted) => (await listedIn(wanted).list(context)).tools,
    revoke: (actor) => {
      for (const endpoint of endpoints.values()) endpoint.revoke(actor)
    },
    shutdown: async () => {
      stopping = true
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()))
    },
  }
}

/** MCP of one project over Streamable HTTP, in both eras, with one follower of its log. */
class Endpoint {
  readonly #feed: EventLogFeed
  readonly #modern: ModernTransport
  readonly #legacy: LegacyTransport

  constructor({ feed, ...parts }: EndpointParts) {
    this.#feed = feed
    this.#modern = new ModernTransport({ feed, ...parts })
    this.#legacy = new LegacyTransport({ feed, ...parts })
  }

  async handle(request: Request, actor: Actor): Promise<Response> {
    const caller = senderOf(request, actor)
    if (request.method !== 'POST') return this.#legacy.handleWithoutBody(request, caller)
    if (!isJsonContentType(request.headers.get('content-type'))) return unsupportedType()
    const read = await readRequestBody(request).catch(() => null)
    if (read?.tooLarge) return messageTooLarge()
    const outline = outlineOf(read?.text ?? '')
    if (outline.tooDeep) return refuse({ status: 400, ...tooDeep, id: outline.id })
    const body = read && parseJson(read.text)
    if (body === undefined || read === null) return parseError()
    return this.#handleMessage({ request, body, caller })
  }

  revoke(actor: Actor): void {
    this.#legacy.revoke(actor)
  }

  /** Answers running requests, then ends every stream and session. */
  async close(): Promise<void> {
    await Promise.all([this.#modern.close(), this.#legacy.close()])
    this.#feed.stop()
  }

  async #handleMessage(message: PostedMessage): Promise<Response> {
    const legacy = await isLegacyRequest(message.request, message.body)
    return legacy ? this.#legacy.handle(message) : this.#modern.handle(message)
  }
}

function messageTooLarge(): Response {
  return refuse({ status: 413, message: 'Payload Too Large: a message has at most 4 MiB.' })
}

function unsupportedType(): Response {
  return refuse({ status: 415, message: 'Unsupported Media Type: Content-Type must be application/json.' })
}

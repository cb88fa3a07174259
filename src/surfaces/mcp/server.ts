import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { introduction } from './introduction.ts'
import { completeArgument, getPrompt, idsIn, listedPrompts } from './prompts.ts'
import { explainErrors } from './protocol-error.ts'
import { serveResources } from './resources/resources.ts'
import { announceChanges, ListChanges, type ResourceWatch, subscribeTo } from './resources/subscriptions.ts'
import type { ClientIdentity, Surface } from './surface.ts'
import type { CallOrder } from './tools/call-order.ts'
import { callTool } from './tools/call-tool.ts'
import { type OfferedTools, ToolListChanges } from './tools/tool-list.ts'

/** The state of a connection, shared by every server that the SDK requests. */
export interface McpConnection {
  readonly era: 'legacy' | 'modern'
  readonly tools: OfferedTools
  readonly order: CallOrder
  /** The notifications of the server. None if they do not use its connection. */
  readonly watch: ResourceWatch | null
}

// The lists are fixed for a process, unless tools can be added; the contents change with every call.
const fixed = { ttlMs: 3_600_000, cacheScope: 'private' } as const
const live = { ttlMs: 0, cacheScope: 'private' } as const

/** A server for one connection in one era of the protocol. */
export function createServer(surface: Surface, connection: McpConnection): Server {
  const { era, tools, order, watch } = connection
  const { log } = surface
  const { serverInfo, capabilities, instructions } = introduction(surface)
  const server = new Server(serverInfo, {
    capabilities,
    cacheHints: {
      'server/discover': fixed,
      'tools/list': tools.canGrow ? live : fixed,
      'prompts/list': fixed,
      'resources/templates/list': fixed,
      'resources/list': live,
      'resources/read': live,
    },
    instructions,
  })
  server.onerror = (error) => log(`MCP: ${error.message}`)
  const contextOf = (request: ServerContext) =>
    surface.contextOf(era === 'modern' ? identityOf(request) : server.getClientVersion())
  const glance = new ListChanges({ store: () => surface.contextOf(undefined).store, log })

  const news = new ToolListChanges(tools, { watch, log })
  server.setRequestHandler('tools/list', async (_, request) => ({
    tools: [...(await news.list(contextOf(request)))],
  }))
  server.setRequestHandler('tools/call', async ({ params }, request) => {
    const asking = {
      catalog: surface.catalog,
      canAsk: canAsk(server, request, era),
      responses: request.mcpReq.inputResponses,
    }
    const call = { params, meta: request.mcpReq._meta, context: contextOf(request), asking }
    const result = await callTool({ tools, order, log }, call)
    if (era === 'legacy' && !watch?.isFollowing) void glance.tell(server)
    if (watch) void news.tell(server, call.context)
    return result
  })
  server.setRequestHandler('prompts/list', () => listedPrompts)
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments ?? {}))
  server.setRequestHandler('completion/complete', ({ params }, request) =>
    explainErrors({ log }, () => completeArgument(params, idsIn(contextOf(request).store))),
  )
  serveResources(server, { catalog: surface.catalog, contextOf, glance, log })
  if (watch && era === 'legacy') subscribeTo(server, { watch, log })
  if (watch) {
    const tellChange = () => void news.tell(server, surface.contextOf(undefined))
    announceChanges(server, { watch, era, log, onChange: tellChange })
  }
  return server
}

/** The client of a request; each request of the newer era contains it. */
function identityOf(request: ServerContext): ClientIdentity | undefined {
  const envelope: Readonly<Record<string, unknown>> = { ...request.mcpReq.envelope }
  const client = envelope[CLIENT_INFO_META_KEY]
  if (typeof client !== 'object' || client === null) return undefined
  const { name, version } = { name: undefined, version: '', ...client }
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

/** Whether a client declares support for forms, at the start of a session or with each request. */
export function canAsk(server: Server, request: ServerContext, era: 'legacy' | 'modern'): boolean {
  if (era === 'legacy') return hasForms(server.getClientCapabilities())
  const envelope: Readonly<Record<string, unknown>> = { ...request.mcpReq.envelope }
  return hasForms(envelope[CLIENT_CAPABILITIES_META_KEY])
}

/** `elicitation: {}` means forms; otherwise it must contain `form`. */
function hasForms(capabilities: unknown): boolean {
  if (typeof capabilities !== 'object' || capabilities === null) return false
  const { elicitation } = { elicitation: undefined, ...capabilities }
  if (typeof elicitation !== 'object' || elicitation === null) return false
  return Object.keys(elicitation).length === 0 || 'form' in elicitation
}

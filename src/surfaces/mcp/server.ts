import { CLIENT_INFO_META_KEY, Server, type ServerContext } from '@modelcontextprotocol/server'
import { complete } from './completion.ts'
import { canAsk } from './elicitation/can-ask.ts'
import { instructions } from './instructions.ts'
import { getPrompt, listedPrompts } from './prompts/prompts.ts'
import { explained } from './protocol-error.ts'
import { Glance } from './resources/glance.ts'
import { serveResources } from './resources/serve-resources.ts'
import { announceTo, subscribeTo } from './resources/subscriptions.ts'
import type { Watch } from './resources/watch.ts'
import type { ClientIdentity, Surface } from './surface.ts'
import { callTool } from './tools/call-tool.ts'
import type { OfferedTools } from './tools/offered-tools.ts'
import { ToolNews } from './tools/tool-news.ts'
import type { Turns } from './tools/turns.ts'

/** What is kept for the life of a connection, over every server that the SDK asks for. */
export interface Connection {
  readonly era: 'legacy' | 'modern'
  readonly tools: OfferedTools
  readonly turns: Turns
  /** What the server announces. None where announcements go another way than over its connection. */
  readonly watch: Watch | null
}

// The lists are fixed at the start of the process, except where the tools can grow; what they lead to changes with
// every call.
const fixed = { ttlMs: 3_600_000, cacheScope: 'private' } as const
const live = { ttlMs: 0, cacheScope: 'private' } as const

/** A server for one connection in one era of the protocol. */
export function createServer(surface: Surface, connection: Connection): Server {
  const { era, tools, turns, watch } = connection
  const { log } = surface
  const server = new Server(
    { name: 'waymark', title: 'Waymark', version: surface.version },
    {
      capabilities: {
        tools: { listChanged: tools.canGrow },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: false },
        completions: {},
      },
      cacheHints: {
        'server/discover': fixed,
        'tools/list': tools.canGrow ? live : fixed,
        'prompts/list': fixed,
        'resources/templates/list': fixed,
        'resources/list': live,
        'resources/read': live,
      },
      instructions,
    },
  )
  server.onerror = (error) => log(`MCP: ${error.message}`)
  const contextOf = (request: ServerContext) =>
    surface.contextOf(era === 'modern' ? identityOf(request) : server.getClientVersion())
  const glance = new Glance({ store: () => surface.contextOf(undefined).store, log })

  const news = new ToolNews(tools, { watch, log })
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
    const result = await callTool({ tools, turns, log }, call)
    if (era === 'legacy' && !watch?.isFollowing) void glance.tell(server)
    if (watch) void news.tell(server, call.context)
    return result
  })
  server.setRequestHandler('prompts/list', () => listedPrompts)
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments ?? {}))
  server.setRequestHandler('completion/complete', ({ params }, request) =>
    explained({ log }, () => complete(params, contextOf(request).store)),
  )
  serveResources(server, { catalog: surface.catalog, contextOf, glance, log })
  if (watch && era === 'legacy') subscribeTo(server, { watch, log })
  if (watch) {
    const changed = () => void news.tell(server, surface.contextOf(undefined))
    announceTo(server, { watch, era, log, changed })
  }
  return server
}

/** Who asks, as each request of the newer era says by itself. */
function identityOf(request: ServerContext): ClientIdentity | undefined {
  const envelope: Readonly<Record<string, unknown>> = { ...request.mcpReq.envelope }
  const client = envelope[CLIENT_INFO_META_KEY]
  if (typeof client !== 'object' || client === null) return undefined
  const { name, version } = { name: undefined, version: '', ...client }
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

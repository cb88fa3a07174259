import { CLIENT_INFO_META_KEY, Server, type ServerContext } from '@modelcontextprotocol/server'
import type { Context } from '../../operations/context.ts'
import { complete } from './completion.ts'
import { instructions } from './instructions.ts'
import { getPrompt, listedPrompts } from './prompts/prompts.ts'
import { askIn } from './resources/ask.ts'
import { listResources, resourceTemplates } from './resources/list-resources.ts'
import { readResource } from './resources/read-resource.ts'
import { announceTo, subscribeTo } from './resources/subscriptions.ts'
import type { Watch } from './resources/watch.ts'
import type { ClientIdentity, Surface } from './surface.ts'
import { callTool } from './tools/call-tool.ts'
import type { OfferedTools } from './tools/offered-tools.ts'
import type { Turns } from './tools/turns.ts'

/** What is kept for the life of a connection, over every server that the SDK asks for. */
export interface Connection {
  readonly era: 'legacy' | 'modern'
  readonly tools: OfferedTools
  readonly turns: Turns
  readonly watch: Watch
}

// The lists are fixed at the start of the process; what they lead to changes with every call.
const fixed = { ttlMs: 3_600_000, cacheScope: 'private' } as const
const live = { ttlMs: 0, cacheScope: 'private' } as const

/** A server for one connection in one era of the protocol. */
export function createServer(surface: Surface, { era, tools, turns, watch }: Connection): Server {
  const server = new Server(
    { name: 'waymark', title: 'Waymark', version: surface.version },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: false },
        completions: {},
      },
      cacheHints: {
        'server/discover': fixed,
        'tools/list': fixed,
        'prompts/list': fixed,
        'resources/templates/list': fixed,
        'resources/list': live,
        'resources/read': live,
      },
      instructions,
    },
  )
  server.onerror = (error) => surface.log(`MCP: ${error.message}`)
  const contextFor = (request: ServerContext): Context =>
    surface.contextOf(era === 'modern' ? identityOf(request) : server.getClientVersion())
  const askFor = (request: ServerContext) => askIn(surface.catalog, contextFor(request))

  server.setRequestHandler('tools/list', () => ({ tools: [...tools.list()] }))
  server.setRequestHandler('tools/call', ({ params }, request) =>
    callTool(
      { tools, turns, log: surface.log },
      { params, meta: request.mcpReq._meta, context: contextFor(request) },
    ),
  )
  server.setRequestHandler('resources/list', ({ params }, request) =>
    listResources(params?.cursor, askFor(request)),
  )
  server.setRequestHandler('resources/templates/list', () => resourceTemplates)
  server.setRequestHandler('resources/read', ({ params }, request) =>
    readResource(params.uri, askFor(request)),
  )
  server.setRequestHandler('prompts/list', () => listedPrompts)
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments ?? {}))
  server.setRequestHandler('completion/complete', ({ params }, request) =>
    complete(params, contextFor(request).store),
  )
  if (era === 'legacy') subscribeTo(watch, server)
  announceTo(server, { watch, era, log: surface.log })
  return server
}

function identityOf(request: ServerContext): ClientIdentity | undefined {
  const envelope: Readonly<Record<string, unknown>> = { ...request.mcpReq.envelope }
  const client = envelope[CLIENT_INFO_META_KEY]
  if (typeof client !== 'object' || client === null) return undefined
  const { name, version } = { name: undefined, version: '', ...client }
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  ProtocolError,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { FollowableStore } from '../../events/operations/follow.ts'
import type { Answer } from '../../kernel/operations/operation.ts'
import { introduction, type ServerIntroduction } from './introduction.ts'
import { completeArgument, getPrompt, type IdCompleter, listedPrompts } from './prompts.ts'
import { explainErrors } from './protocol-error.ts'
import { EventLogFeed } from './resources/event-feed.ts'
import { listResources, readResource, resourceTemplates } from './resources/resources.ts'
import {
  announceChanges,
  ListChanges,
  listenRequests,
  ResourceWatch,
  subscribeTo,
} from './resources/subscriptions.ts'
import { canAsk } from './server.ts'
import type { StdioTransport } from './stdio.ts'
import { shownName } from './surface.ts'
import { CallOrder } from './tools/call-order.ts'

/** A tool call for a server. */
export interface RelayedCall {
  readonly tool: string
  readonly kind: 'query' | 'command'
  readonly arguments: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly client: string | undefined
  readonly can_ask: boolean
  readonly responses: Record<string, unknown> | undefined
}

/** The result of a tool call. */
export type RelayResult =
  | { readonly result: CallToolResult | InputRequiredResult }
  | { readonly protocolError: { readonly code: number; readonly message: string } }

/** A project at a server, for an MCP client on this machine. */
export interface RelayedProject extends ServerIntroduction {
  readonly tools: () => Promise<readonly Tool[]>
  callTool(call: RelayedCall): Promise<RelayResult>
  /** Calls an operation by its name. */
  ask(operation: string, input: Answer, client: string | undefined): Promise<Answer>
  /** The log of the server. */
  readonly events: FollowableStore
  readonly log: (line: string) => void
}

/** Serves the client on standard input and output. `end` waits for running calls. */
export function connectRelay(project: RelayedProject, transport: StdioTransport): { end(): Promise<void> } {
  const { log } = project
  const order = new CallOrder()
  const watch = new ResourceWatch(new EventLogFeed({ store: () => project.events, log }))
  transport.observe(listenRequests({ watch, log }))
  const handle = serveStdio(({ era }) => relayServer(project, { era, order, watch }), {
    transport,
    onerror: (error) => log(`MCP: ${error.message}`),
  })
  return {
    end: async () => {
      watch.stop()
      await handle.close()
      await order.idle()
    },
  }
}

interface RelayConnection {
  readonly era: 'legacy' | 'modern'
  readonly order: CallOrder
  readonly watch: ResourceWatch
}

function relayServer(project: RelayedProject, { era, order, watch }: RelayConnection): Server {
  const { log } = project
  const { serverInfo, capabilities, instructions } = introduction(project)
  const server = new Server(serverInfo, { capabilities, instructions })
  server.onerror = (error) => log(`MCP: ${error.message}`)
  const clientOf = (request: ServerContext) =>
    shownName(era === 'modern' ? clientIn(request) : server.getClientVersion()?.name)
  const glance = new ListChanges({ store: () => project.events, log })

  const askFor = (request: ServerContext) => (name: string, input: Answer) =>
    project.ask(name, input, clientOf(request))
  server.setRequestHandler('tools/list', async () => ({ tools: [...(await project.tools())] }))
  server.setRequestHandler('tools/call', async ({ params }, request) => {
    const kind = await kindOf(project, params.name)
    const call = {
      tool: params.name,
      kind,
      arguments: params.arguments ?? {},
      meta: request.mcpReq._meta,
      client: clientOf(request),
      can_ask: canAsk(server, request, era),
      responses: request.mcpReq.inputResponses,
    }
    const relayed = await order.run(kind, () => project.callTool(call))
    if ('protocolError' in relayed) {
      throw new ProtocolError(relayed.protocolError.code, relayed.protocolError.message)
    }
    return relayed.result
  })
  server.setRequestHandler('prompts/list', () => listedPrompts)
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments ?? {}))
  server.setRequestHandler('completion/complete', ({ params }, request) =>
    explainErrors({ log }, () => completeArgument(params, idsAt(askFor(request)))),
  )
  server.setRequestHandler('resources/list', ({ params }, request) =>
    explainErrors({ log }, async () => {
      await glance.begin()
      return listResources(params?.cursor, askFor(request))
    }),
  )
  server.setRequestHandler('resources/templates/list', () => resourceTemplates)
  server.setRequestHandler('resources/read', ({ params: { uri } }, request) =>
    explainErrors({ log, data: { uri } }, () => readResource(uri, askFor(request))),
  )
  if (era === 'legacy') subscribeTo(server, { watch, log })
  announceChanges(server, { watch, era, log, onChange: () => undefined })
  return server
}

/** Runs calls that may write one after the other. */
async function kindOf({ tools }: RelayedProject, name: string): Promise<'query' | 'command'> {
  const listed = await tools().catch(() => [])
  const isQuery = listed.find((tool) => tool.name === name)?.annotations?.readOnlyHint === true
  return isQuery ? 'query' : 'command'
}

function clientIn(request: ServerContext): string | undefined {
  const envelope: Readonly<Record<string, unknown>> = { ...request.mcpReq.envelope }
  const client = envelope[CLIENT_INFO_META_KEY]
  if (typeof client !== 'object' || client === null || !('name' in client)) return undefined
  return typeof client.name === 'string' ? client.name : undefined
}

const lists = {
  mission: ['list_missions', { status: 'all', limit: 50 }],
  run: ['state_gate_list_runs', {}],
  task: ['taskman_task_list', { limit: 50 }],
} as const

/** The first ids of a kind in the server's lists. */
function idsAt(ask: (name: string, input: Answer) => Promise<Answer>): IdCompleter {
  return async (kind, prefix) => {
    const [name, input] = lists[kind]
    const found = JSON.stringify(await ask(name, input))
    const ids = [...found.matchAll(/"(?:id|mission_id|run_id|task_id)":"([a-z]+-[0-9a-z-]+)"/g)]
    return [...new Set(ids.flatMap(([, id]) => id ?? []))].filter((id) => id.startsWith(prefix))
  }
}

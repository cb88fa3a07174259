import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { EdgeCalling } from '../../edge/edge-project.ts'
import type { Done, OfflineProject } from '../../edge/offline.ts'
import { remoteJournal } from '../../edge/remote-journal.ts'
import type { ServerClient } from '../../edge/server-client.ts'
import type { Answer } from '../../operations/operation.ts'
import { connectRelay, type Relayed, type RelayedProject } from '../../surfaces/mcp/relay.ts'
import type { StdioTransport } from '../../surfaces/mcp/stdio.ts'
import { refused } from '../../surfaces/mcp/tools/tool-result.ts'
import { version } from '../program.ts'
import { runsInsideCommand, stdioActor } from '../settings/actor.ts'
import type { McpFlags } from '../settings/flags.ts'
import type { EdgePlace } from './connected.ts'
import { openEdgeProject } from './open-edge.ts'

const Catalog = z.object({
  tools: z.array(
    z.looseObject({ name: z.string(), inputSchema: z.looseObject({ type: z.literal('object') }) }),
  ),
})

/** The project of a server as an MCP client on standard input sees it, and what ends all that goes on for it. */
export function openEdge(place: EdgePlace, flags: McpFlags, log: (line: string) => void) {
  const environment = process.env
  const connection = crypto.randomUUID().slice(0, 8)
  const {
    client: server,
    offline,
    close,
  } = openEdgeProject(place, {
    actor: stdioActor(environment, undefined, connection),
    environment,
    workingFolder: process.cwd(),
    project: flags.project,
  })
  const calling = (client: string | undefined) => ({
    channel: 'stdio' as const,
    as: 'agent' as const,
    connection,
    client: stdioActor(environment, client, connection).name,
    ...(runsInsideCommand(environment) && { inside_command: true }),
  })
  const tools = toolsOf(server, offline, flags)
  const relayed: RelayedProject = {
    version,
    toolsets: flags.toolsets,
    log,
    tools,
    callTool: async ({ client, kind, ...call }) =>
      relayedAnswer(offline, { ...calling(client), ...call }, kind),
    ask: async (operation, input, client) => {
      const done = await offline.perform({ ...calling(client), operation, input }, 'query')
      if (done.kind === 'answer') return done.answer
      throw new Failure('INTERNAL', `The server answered ${operation} as no operation is answered.`)
    },
    journal: remoteJournal(server),
  }
  // What waited while nothing ran here goes first.
  setTimeout(() => void offline.replay().catch((error: unknown) => log(`Edge: ${String(error)}`)), 0)
  return { connect: (transport: StdioTransport) => connectRelay(relayed, transport), close }
}

/** The tools that the server lists, as many as this client wants; as they were listed last while it is away. */
function toolsOf(
  server: ServerClient,
  offline: OfflineProject,
  { readOnly, toolsets }: McpFlags,
): () => Promise<readonly Tool[]> {
  let listed: Promise<readonly Tool[]> | null = null
  const wanted = toolsets === 'auto' ? 'auto' : toolsets.join(',')
  const ask = async () => {
    const { tools } = Catalog.parse(
      await offline.kept(`tools ${wanted}`, () => server.get(`/api/catalog?toolsets=${wanted}`)),
    )
    const all = tools as readonly Tool[] // as the server lists them to its own clients
    return readOnly ? all.filter(({ annotations }) => annotations?.readOnlyHint === true) : all
  }
  return () => {
    listed ??= ask().catch((error: unknown) => {
      listed = null
      throw error
    })
    return listed
  }
}

async function relayedAnswer(
  offline: OfflineProject,
  calling: EdgeCalling,
  kind: 'query' | 'command',
): Promise<Relayed> {
  try {
    const done = await offline.perform(calling, kind)
    if (done.kind === 'protocol_error') {
      const { code, message } = done.answer
      return { protocolError: { code: Number(code), message: String(message) } }
    }
    return { result: resultOf(calling, done, offline) as never } // as a tool's result is made
  } catch (error) {
    if (error instanceof Failure) return { result: refused(error) }
    throw error
  }
}

/** The server's result, or what stands for it, with what the agent is to know beside it. */
function resultOf(calling: EdgeCalling, done: Done, offline: OfflineProject): Answer {
  const { answer, kind, stale, notices } = done
  const isStatus = calling.tool === 'status'
  const made: Answer =
    kind === 'result'
      ? answer
      : {
          content: [{ type: 'text', text: JSON.stringify(answer) }],
          structuredContent: answer,
          isError: false,
        }
  const said = [...(stale ? [`As of ${stale.as_of}, not now. ${stale.reason}`] : []), ...notices]
  const content = Array.isArray(made['content']) ? (made['content'] as unknown[]) : null
  if (content === null || (said.length === 0 && !isStatus)) return made
  const first = said.map((text) => ({ type: 'text', text }))
  const structured = made['structuredContent']
  return {
    ...made,
    content: [...first, ...content],
    structuredContent: {
      ...(typeof structured === 'object' ? structured : {}),
      ...(stale && { stale }),
      ...(notices.length > 0 && { edge: { ...offline.standing(), notices } }),
    },
  }
}

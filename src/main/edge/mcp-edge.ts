import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { EdgeCalling, EdgeProject } from '../../edge/edge-project.ts'
import { remoteJournal } from '../../edge/remote-journal.ts'
import { connectRelay, type Relayed, type RelayedProject } from '../../surfaces/mcp/relay.ts'
import type { StdioTransport } from '../../surfaces/mcp/stdio.ts'
import { refused } from '../../surfaces/mcp/tools/tool-result.ts'
import { closeContext } from '../open-context.ts'
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
  const { project, context } = openEdgeProject(place, {
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
  const relayed: RelayedProject = {
    version,
    toolsets: flags.toolsets,
    log,
    tools: toolsOf(project, flags),
    callTool: async ({ client, ...call }) => relayedAnswer(project, { ...calling(client), ...call }),
    ask: async (operation, input, client) => {
      const { answer } = await project.perform({ ...calling(client), operation, input })
      if ('answer' in answer) return answer.answer
      throw new Failure('INTERNAL', `The server answered ${operation} as no operation is answered.`)
    },
    journal: remoteJournal(project.parts.client),
  }
  return {
    connect: (transport: StdioTransport) => connectRelay(relayed, transport),
    close: async () => {
      await project.close()
      await closeContext(context)
    },
  }
}

/** The tools that the server lists: as many as this client wants. */
function toolsOf({ parts }: EdgeProject, { readOnly, toolsets }: McpFlags): () => Promise<readonly Tool[]> {
  let listed: Promise<readonly Tool[]> | null = null
  const wanted = toolsets === 'auto' ? 'auto' : toolsets.join(',')
  const ask = async () => {
    const { tools } = Catalog.parse(await parts.client.get(`/api/catalog?toolsets=${wanted}`))
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

async function relayedAnswer(project: EdgeProject, calling: EdgeCalling): Promise<Relayed> {
  try {
    const { answer } = await project.perform(calling)
    if ('protocol_error' in answer) return { protocolError: answer.protocol_error }
    if ('result' in answer) return { result: answer.result as never } // as the server made it
    throw new Failure('INTERNAL', `The server answered ${calling.tool} as no tool is answered.`)
  } catch (error) {
    if (error instanceof Failure) return { result: refused(error) }
    throw error
  }
}

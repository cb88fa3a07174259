import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import type { Answer } from '../../kernel/operations/operation.ts'
import { waitInBackground } from '../../kernel/wait.ts'
import type { CallOutcome, RemoteCalls } from '../../remote/machine/remote-calls.ts'
import { remoteEventLog } from '../../remote/machine/remote-log.ts'
import type { RemoteCallInput } from '../../remote/machine/remote-project.ts'
import type { ServerClient } from '../../remote/machine/server-client.ts'
import { connectRelay, type RelayedProject, type RelayResult } from '../../surfaces/mcp/relay.ts'
import type { StdioTransport } from '../../surfaces/mcp/stdio.ts'
import type { Surface } from '../../surfaces/mcp/surface.ts'
import { inheritedSession } from '../../surfaces/mcp/tools/call-tool.ts'
import { refusedResult } from '../../surfaces/mcp/tools/tool-result.ts'
import { ingestContinuously } from '../capture/ingest-command.ts'
import { version } from '../program.ts'
import { runsInsideCommand, stdioActor } from '../settings/actor.ts'
import type { McpFlags } from '../settings/flags.ts'
import { openRemoteProject } from './open-remote.ts'
import type { RemoteProjectLocation } from './remote-project-location.ts'

const Catalog = z.object({
  tools: z.array(
    z.looseObject({ name: z.string(), inputSchema: z.looseObject({ type: z.literal('object') }) }),
  ),
})

/** The MCP surface of a project at a server on standard input, with its cleanup. */
export function openRemoteMcp(place: RemoteProjectLocation, flags: McpFlags, log: Surface['log']) {
  const { relayed, close } = relayedProject(place, flags, log)
  return { connect: (transport: StdioTransport) => connectRelay(relayed, transport), close }
}

/** The pause between two attempts to reach a server, in milliseconds. */
const lookEvery = 2_000

/**
 * The same for a project that is not connected yet: `look` fails until somebody connects, and each call gets its message.
 */
export function openWhenConnected(
  look: () => RemoteProjectLocation | null,
  flags: McpFlags,
  log: Surface['log'],
) {
  let found: ReturnType<typeof relayedProject> | null = null
  const project = (): RelayedProject => {
    if (found) return found.relayed
    const place = look()
    if (place === null) throw keptHereNow
    found = relayedProject(place, flags, log)
    return found.relayed
  }
  const localTools = localToolList(flags)
  const relayed: RelayedProject = {
    version,
    toolsets: flags.toolsets,
    log,
    tools: async () => {
      try {
        return await project().tools()
      } catch (error) {
        if (error instanceof Failure && !found) return localTools()
        throw error
      }
    },
    callTool: async (call) => {
      try {
        return await project().callTool(call)
      } catch (error) {
        if (error instanceof Failure) return { result: refusedResult(error) }
        throw error
      }
    },
    ask: async (operation, input, client) => project().ask(operation, input, client),
    events: {
      view: async (look) => project().events.view(look),
      async *follow(after, signal) {
        for (; !signal.aborted && !isProjectReachable(project); ) {
          await waitInBackground(lookEvery, signal)
        }
        if (!signal.aborted) yield* project().events.follow(after, signal)
      },
    },
  }
  return {
    connect: (transport: StdioTransport) => connectRelay(relayed, transport),
    close: async () => found?.close(),
  }
}

const keptHereNow = new Failure('UNAVAILABLE', 'The record of this folder is now on this machine.', {
  reason: 'project_moved_here',
  hint: 'Restart this MCP server: it started while the folder was connected to a server.',
})

function isProjectReachable(project: () => RelayedProject): boolean {
  try {
    project()
    return true
  } catch {
    return false
  }
}

/** The tools of this program; a server of the same version has the same. */
function localToolList({ toolsets, readOnly }: McpFlags): () => Promise<readonly Tool[]> {
  const list = async () => {
    const [{ catalog }, { offeredTools }] = await Promise.all([
      import('../../kernel/operations/catalog.ts'),
      import('../../surfaces/mcp/tools/tool-list.ts'),
    ])
    const offering = { catalog: async () => catalog, toolsets, readOnly, toolNames: 'portable' } as const
    return offeredTools(offering).all()
  }
  let listed: Promise<readonly Tool[]> | null = null
  return () => {
    listed ??= list()
    return listed
  }
}

function relayedProject(place: RemoteProjectLocation, flags: McpFlags, log: Surface['log']) {
  const environment = process.env
  const connection = crypto.randomUUID().slice(0, 8)
  const {
    client: server,
    calls,
    record,
    caller,
    close: closeProject,
  } = openRemoteProject(place, {
    actor: stdioActor(environment, undefined, connection),
    environment,
    workingFolder: process.cwd(),
    project: flags.project,
  })
  const inherited = caller && { [inheritedSession]: caller.session }
  const callInput = (client: string | undefined) => ({
    channel: 'stdio' as const,
    caller: 'agent' as const,
    connection,
    client: stdioActor(environment, client, connection).name,
    ...(runsInsideCommand(environment) && { inside_command: true }),
  })
  const tools = toolsOf(server, flags)
  const relayed: RelayedProject = {
    version,
    toolsets: flags.toolsets,
    log,
    tools,
    callTool: async ({ client, kind: _, ...call }) =>
      relayCall(calls, { ...callInput(client), ...call, meta: { ...inherited, ...call.meta } }),
    ask: async (operation, input, client) => {
      const outcome = await calls.perform({ ...callInput(client), operation, input })
      if (outcome.kind === 'answer') return outcome.answer
      throw new Failure('INTERNAL', `Cannot read the answer of the server to ${operation}.`, {
        reason: 'server_answer_invalid',
      })
    },
    events: remoteEventLog(server),
  }
  const stopDraining = ingestContinuously(place.root, record)
  const close = async () => {
    await stopDraining()
    await closeProject()
  }
  return { relayed, close }
}

/** The server's tools, limited to the toolsets of this client. */
function toolsOf(server: ServerClient, { readOnly, toolsets }: McpFlags): () => Promise<readonly Tool[]> {
  let listed: Promise<readonly Tool[]> | null = null
  const wanted = toolsets === 'auto' ? 'auto' : toolsets.join(',')
  const ask = async () => {
    const { tools } = Catalog.parse(await server.get(`/api/catalog?toolsets=${wanted}`))
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

async function relayCall(calls: RemoteCalls, callInput: RemoteCallInput): Promise<RelayResult> {
  try {
    const outcome = await calls.perform(callInput)
    if (outcome.kind === 'protocol_error') {
      const { code, message } = outcome.answer
      return { protocolError: { code: Number(code), message: String(message) } }
    }
    return { result: resultOf(outcome) as never } // as a tool's result is made
  } catch (error) {
    if (error instanceof Failure) return { result: refusedResult(error) }
    throw error
  }
}

function resultOf({ answer, kind }: CallOutcome): Answer {
  if (kind === 'result') return answer
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
    isError: false,
  }
}

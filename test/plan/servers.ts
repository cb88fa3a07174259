import type { Answer } from '../support/project.ts'
import { type ServerProcess, startServer } from '../surfaces/mcp/server-process.ts'

/** A server in a process of its own, over one folder with others. */
export interface PlanServer {
  readonly process: ServerProcess['process']
  /** The whole result of a call. */
  readonly result: (tool: string, input?: object) => Promise<Answer>
  /** What a call answers; fails where it is refused. */
  readonly call: (tool: string, input?: object) => Promise<Answer>
}

/** Starts servers that are ready to be called: of one client each, unless a name is given for all of them. */
export function startServers(folder: string, count: number, name?: string): Promise<readonly PlanServer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => ready(folder, name ?? `agent-${index}`)))
}

async function ready(folder: string, name: string): Promise<PlanServer> {
  const { ask, send, process } = startServer({ folder })
  const clientInfo = { name, version: '1.0.0' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const result: PlanServer['result'] = async (tool, input = {}) => {
    const answer = await ask('tools/call', { name: tool, arguments: input })
    if (answer.error) throw new Error(`${tool}: ${JSON.stringify(answer.error)}`)
    return answer.result
  }
  return {
    process,
    result,
    call: async (tool, input) => {
      const { isError, content, structuredContent } = await result(tool, input)
      if (isError) throw new Error(`${tool}: ${content[0].text}`)
      return structuredContent
    },
  }
}

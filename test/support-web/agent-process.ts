import { dirname } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { ProgramTransport } from '../support/started-program.ts'
import { serverEnvironment } from '../support/stdio-project.ts'

/** An answer, read freely. */
type Said = any

export interface AgentProcess {
  readonly call: (tool: string, input: object) => Promise<Said>
  readonly stop: () => Promise<void>
}

/** An agent in a process of its own, which speaks to `waymark mcp` in a project's folder. */
export async function startAgent(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<AgentProcess> {
  const client = new Client({ name: 'vera', version: '1.0.0' })
  const env = { ...serverEnvironment(dirname(folder)), ...more }
  await client.connect(new ProgramTransport(['mcp'], { folder, environment: env }))
  return {
    call: async (tool, input) => {
      const { isError, content, structuredContent } = await client.callTool({
        name: tool,
        arguments: { ...input },
      })
      if (isError) throw new Error(JSON.stringify(content))
      return structuredContent
    },
    stop: () => client.close(),
  }
}

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** An answer of the server, read freely. */
export type Answer = any

export interface Agent {
  call(tool: string, input: object): Promise<Answer>
  leave(): Promise<void>
}

/** A coding agent as Waymark sees it: an MCP client with a server process of its own, on stdio. */
export async function connectAgent(
  name: string,
  server: { readonly bin: string; readonly folder: string },
): Promise<Agent> {
  const client = new Client({ name, version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [server.bin, 'mcp', '--toolsets', 'track'],
      cwd: server.folder,
      env: environment(),
      stderr: 'inherit',
    }),
  )
  return {
    call: async (tool, input) => {
      const result = await client.callTool({ name: tool, arguments: { ...input } })
      if (result.isError) throw new Error(`${tool}: ${JSON.stringify(result.content)}`)
      return result.structuredContent
    },
    leave: () => client.close(),
  }
}

/** This process' environment, without what would point the server at another project. */
function environment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(WAYMARK|TASKMAN|GIT|CLAUDE)_/.test(entry[0]),
  )
  return Object.fromEntries(entries)
}

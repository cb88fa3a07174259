import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

import type { Answer } from '../../examples/demo/agent.ts'

const bin = join(import.meta.dirname, '..', '..', 'bin', 'waymark.js')

export interface Agent {
  call(tool: string, input: object): Promise<Answer>
  /** A call that is refused, as the day means it to be. */
  refused(tool: string, input: object): Promise<void>
  leave(): Promise<void>
}

/** A coding agent as Waymark sees it: an MCP client with a server process of its own, on stdio. */
export async function connectAgent(
  name: string,
  { folder, environment }: { readonly folder: string; readonly environment: Record<string, string> },
): Promise<Agent> {
  const client = new Client({ name, version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, 'mcp', '--toolsets', 'plan,track,gate'],
      cwd: folder,
      env: environment,
      stderr: 'inherit',
    }),
  )
  const ask = (tool: string, input: object) => client.callTool({ name: tool, arguments: { ...input } })
  return {
    call: async (tool, input) => {
      const result = await ask(tool, input)
      if (result.isError) throw new Error(`${name} ${tool}: ${JSON.stringify(result.content)}`)
      return result.structuredContent
    },
    refused: async (tool, input) => {
      const result = await ask(tool, input)
      if (!result.isError)
        throw new Error(`${name} ${tool} was to be refused: ${JSON.stringify(result.structuredContent)}`)
    },
    leave: () => client.close(),
  }
}

/** What a person does on the command line, in the project's folder. */
export function personIn(
  folder: string,
  environment: Record<string, string>,
): (...words: readonly string[]) => Answer {
  return (...words) =>
    JSON.parse(
      execFileSync(process.execPath, [bin, ...words, '--format', 'json'], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...environment, WAYMARK_ACTOR: 'Tess' },
      }),
    )
}

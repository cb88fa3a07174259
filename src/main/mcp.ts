import { tell } from '../surfaces/cli/terminal.ts'
import { serveMcpOverStdio } from '../surfaces/mcp/stdio.ts'
import { version } from './program.ts'
import { type McpFlags, readMcpFlags } from './settings/flags.ts'

/** Runs the server until its client is gone. A flag that is not understood ends it with exit code 2. */
export async function serveMcp(words: readonly string[]): Promise<void> {
  const flags = readMcpFlags(words)
  const log = (line: string) => tell(`${line}\n`)
  let close = async (): Promise<void> => undefined
  const open = async () => {
    const place = await keptElsewhere(flags)
    const opened = place
      ? (await import('./edge/mcp-edge.ts')).openEdge(place, flags, log)
      : (await import('./mcp-surface.ts')).openLocal(flags, log)
    close = opened.close
    return opened.connect
  }
  try {
    await serveMcpOverStdio({ version, toolsets: flags.toolsets, log, open })
  } finally {
    await close()
  }
}

/** Most projects are kept here: only where a server is named it is looked which. */
async function keptElsewhere(flags: McpFlags) {
  const places = { ...flags, environment: process.env, workingFolder: process.cwd() }
  const { connectedAt } = await import('./edge/connected.ts')
  return connectedAt(places)
}

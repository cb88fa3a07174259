import { tell } from '../surfaces/cli/terminal.ts'
import { serveMcpOverStdio } from '../surfaces/mcp/stdio.ts'
import { version } from './program.ts'
import { readMcpFlags } from './settings/flags.ts'

/** Runs the server until its client is gone. A flag that is not understood ends it with exit code 2. */
export async function serveMcp(words: readonly string[]): Promise<void> {
  const flags = readMcpFlags(words)
  const log = (line: string) => tell(`${line}\n`)
  let close = async (): Promise<void> => undefined
  const open = async () => {
    const { openSurface } = await import('./mcp-surface.ts')
    const opened = openSurface(flags, log)
    close = opened.close
    return opened.surface
  }
  try {
    await serveMcpOverStdio({ version, toolsets: flags.toolsets, log, open })
  } finally {
    await close()
  }
}

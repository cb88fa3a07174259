import { Failure } from '../kernel/failure.ts'
import { printError } from '../surfaces/cli/terminal.ts'
import { serveMcpOverStdio } from '../surfaces/mcp/stdio.ts'
import type { Surface } from '../surfaces/mcp/surface.ts'
import { exitAfterGrace } from './process.ts'
import { version } from './program.ts'
import { type McpFlags, readMcpFlags } from './settings/flags.ts'
import { unexpandedNames } from './settings/project-location.ts'
import { errorSummary } from './unexpected-errors.ts'

/** Runs the server until its client disconnects. An unknown flag ends it with exit code 2. */
export async function serveMcp(words: readonly string[]): Promise<void> {
  const flags = readMcpFlags(words)
  const log: Surface['log'] = (line, error) =>
    printError(`${line}${error === undefined ? '' : ` ${errorSummary(error)}`}\n`)
  const folderRequest = { flag: flags.project, environment: process.env, workingFolder: process.cwd() }
  for (const name of unexpandedNames(folderRequest)) {
    log(`waymark: ${name} was not filled in by the client, so it is ignored.`)
  }
  let close = async (): Promise<void> => undefined
  const open = async () => {
    const opened = await openMcpSurface(flags, log)
    close = opened.close
    return opened.connect
  }
  try {
    await serveMcpOverStdio({ version, toolsets: flags.toolsets, log, open })
  } finally {
    await close()
    exitAfterGrace()
  }
}

/** Most projects are local: the server is read only if one is named. */
async function openMcpSurface(flags: McpFlags, log: Surface['log']) {
  const places = { ...flags, environment: process.env, workingFolder: process.cwd() }
  const { connectedPlace: connectedAt } = await import('./remote/remote-project-location.ts')
  const look = () => connectedAt(places)
  try {
    const place = look()
    if (place === null) return (await import('./mcp-surface.ts')).openLocalMcp(flags, log)
    return (await import('./remote/mcp-remote.ts')).openRemoteMcp(place, flags, log)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Clients hide why a server ended, so each call answers how to connect.
    return (await import('./remote/mcp-remote.ts')).openWhenConnected(look, flags, log)
  }
}

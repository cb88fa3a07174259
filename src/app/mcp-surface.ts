import type { Actor } from '../kernel/actor.ts'
import { connect } from '../surfaces/mcp/connection.ts'
import type { StdioTransport } from '../surfaces/mcp/stdio.ts'
import type { Surface } from '../surfaces/mcp/surface.ts'
import { startBackgroundJobs } from './background-jobs.ts'
import { closeContext, openContext } from './open-context.ts'
import { version } from './program.ts'
import { stdioActor, userIdentity } from './settings/actor.ts'
import { userName } from './settings/environment.ts'
import type { McpFlags } from './settings/flags.ts'

/** A project's MCP surface on standard input, with its cleanup. */
function openSurface(
  flags: McpFlags,
  log: Surface['log'],
): { readonly surface: Surface; readonly close: () => Promise<void> } {
  const environment = process.env
  const connection = crypto.randomUUID().slice(0, 8)
  const identity = userIdentity(userName())
  const actorOf = (client: string | undefined): Actor => ({
    ...stdioActor(environment, client, connection),
    identity,
  })
  const base = openContext({
    actor: actorOf(undefined),
    environment,
    workingFolder: process.cwd(),
    project: flags.project,
  })
  const stop = startBackgroundJobs(base, log)
  return {
    surface: {
      catalog: async () => (await import('../kernel/operations/catalog.ts')).catalog,
      contextOf: (client) => ({ ...base, actor: actorOf(client?.name) }),
      toolsets: flags.toolsets,
      readOnly: flags.readOnly,
      toolNames: flags.dottedNames ? 'dotted' : 'portable',
      version,
      log,
    },
    close: async () => {
      await stop()
      await closeContext(base)
    },
  }
}

/** The same with a connected client. */
export function openLocalMcp(flags: McpFlags, log: Surface['log']) {
  const { surface, close } = openSurface(flags, log)
  return { connect: (transport: StdioTransport) => connect(surface, transport), close }
}

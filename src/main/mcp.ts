import type { Actor } from '../domain/actor.ts'
import type { Context } from '../operations/operation.ts'
import { tell } from '../surfaces/cli/terminal.ts'
import { serveMcpOverStdio } from '../surfaces/mcp/stdio.ts'
import type { ClientIdentity } from '../surfaces/mcp/surface.ts'
import { closeContext, openContext } from './open-context.ts'
import { version } from './program.ts'
import { stdioActor, userIdentity } from './settings/actor.ts'
import { userName } from './settings/environment.ts'
import { readMcpFlags } from './settings/flags.ts'
import { keepTidy } from './upkeep.ts'

/** Runs the server until its client is gone. A flag that is not understood ends it with exit code 2. */
export async function serveMcp(words: readonly string[]): Promise<void> {
  const flags = readMcpFlags(words)
  const environment = process.env
  const connection = crypto.randomUUID().slice(0, 8)
  const base = openContext({
    actor: ofThisUser(stdioActor(environment, undefined, connection)),
    environment,
    workingFolder: process.cwd(),
    project: flags.project,
  })
  const log = (line: string) => tell(`${line}\n`)
  const stopTidying = keepTidy(base, log)
  try {
    await serveMcpOverStdio({
      catalog: async () => (await import('../operations/catalog.ts')).catalog,
      contextOf: (client) => asClient(base, client, connection),
      toolsets: flags.toolsets,
      readOnly: flags.readOnly,
      toolNames: flags.dottedNames ? 'dotted' : 'portable',
      version,
      log,
    })
  } finally {
    stopTidying()
    await closeContext(base)
  }
}

function asClient(base: Context, client: ClientIdentity | undefined, connection: string): Context {
  return { ...base, actor: ofThisUser(stdioActor(process.env, client?.name, connection)) }
}

function ofThisUser(actor: Actor): Actor {
  return { ...actor, identity: userIdentity(userName()) }
}

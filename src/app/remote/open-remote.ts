import { join } from 'node:path'
import type { Actor } from '../../kernel/actor.ts'
import { thisMachine } from '../../remote/machine/known-servers.ts'
import { RemoteCalls } from '../../remote/machine/remote-calls.ts'
import { RemoteProject } from '../../remote/machine/remote-project.ts'
import { ServerClient } from '../../remote/machine/server-client.ts'
import { type AskPerson, TrustedCommands } from '../../remote/machine/trusted-commands.ts'
import { ingestFor, type RecordHookEvents } from '../capture/ingest-for.ts'
import { closeContext, openContext } from '../open-context.ts'
import { version } from '../program.ts'
import { withFolderIsolation } from '../serve/projects.ts'
import type { Environment } from '../settings/environment.ts'
import type { RemoteProjectLocation } from './connected-place.ts'

export interface OpenRemoteOptions {
  readonly actor: Actor
  readonly environment: Environment
  readonly workingFolder: string
  readonly project: string | undefined
  /** Shows a command to the person at this machine; absent where nobody can be asked. */
  readonly askPerson?: AskPerson | null
}

/** Puts the remote side of a project together: this machine's own ports, the server that asks them, and what waits for it. */
export function openRemoteProject(place: RemoteProjectLocation, opening: OpenRemoteOptions) {
  const context = withFolderIsolation(openContext(opening))
  const client = new ServerClient(place.server)
  const project = new RemoteProject({
    client,
    machine: thisMachine(place.folder, place.server.origin),
    context,
    commands: new TrustedCommands({
      approvals: context.commandApprovals,
      runner: context.commandRunner,
      actor: opening.actor,
      askPerson: opening.askPerson ?? null,
      trustsServer: place.server.trustsCommands,
      now: () => Date.now(),
    }),
    snapshots: () => join(context.program.stateFolder, 'snapshots'),
    version,
  })
  let telling: Promise<RecordHookEvents> | null = null
  const record: RecordHookEvents = async (hookEvents) => {
    telling ??= import('../../remote/machine/send-hook-events.ts').then(({ serverRecorder: tellingServer }) =>
      tellingServer({ send: (calling) => calls.send(calling) }, context),
    )
    return (await telling)(hookEvents)
  }
  const calls: RemoteCalls = new RemoteCalls({ project, ingest: () => ingestFor(place.root, record) })
  return {
    project,
    calls,
    client,
    /** Sends what hooks told here. */
    record,
    captureHealth: context.captureHealth,
    /** The session of a client that this program was started for. */
    caller: context.caller,
    close: async () => {
      await project.close()
      await closeContext(context)
    },
  }
}

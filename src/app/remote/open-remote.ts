import { join } from 'node:path'
import type { Actor } from '../../kernel/actor.ts'
import { ServerCredentials, thisMachine } from '../../remote/machine/known-servers.ts'
import { RemoteCalls } from '../../remote/machine/remote-calls.ts'
import { RemoteProject } from '../../remote/machine/remote-project.ts'
import { ServerClient } from '../../remote/machine/server-client.ts'
import { type AskPerson, TrustedCommands } from '../../remote/machine/trusted-commands.ts'
import { ingestFor, type RecordHookEvents } from '../capture/ingest-for.ts'
import { closeContext, openContext, stateOfWorkTree } from '../open-context.ts'
import { version } from '../program.ts'
import { withFolderIsolation } from '../serve/projects.ts'
import type { Environment } from '../settings/environment.ts'
import type { RemoteProjectLocation } from './remote-project-location.ts'

export interface OpenRemoteOptions {
  readonly actor: Actor
  readonly environment: Environment
  readonly workingFolder: string
  readonly project: string | undefined
  /** Shows a command to the person at this machine; absent without a person. */
  readonly askPerson?: AskPerson | null
}

/** Builds the remote side of a project: local ports, the client of its server, and the hook queue. */
export function openRemoteProject(place: RemoteProjectLocation, opening: OpenRemoteOptions) {
  const context = withFolderIsolation(openContext(opening))
  const credentials = new ServerCredentials(place.folder)
  const { origin, isKept = false } = place.server
  const credentialNow = () => {
    try {
      return credentials.find(origin)
    } catch {
      return null // an unreadable list ends no process that runs
    }
  }
  const client = new ServerClient(place.server, {
    newerToken: () => (isKept ? (credentialNow()?.token ?? null) : null),
  })
  const project = new RemoteProject({
    client,
    machine: thisMachine(place.folder, place.server.origin, place.machineName),
    context,
    commands: new TrustedCommands({
      approvals: context.commandApprovals,
      runner: context.commandRunner,
      actor: opening.actor,
      askPerson: opening.askPerson ?? null,
      trustsServer: () => credentialNow()?.trustsCommands === true,
      now: () => Date.now(),
    }),
    snapshots: (workTrees) => [
      join(context.program.stateFolder, 'snapshots'),
      ...workTrees.map((tree) => join(stateOfWorkTree(opening, tree), 'snapshots')),
    ],
    version,
  })
  let telling: Promise<RecordHookEvents> | null = null
  const record: RecordHookEvents = async (hookEvents) => {
    telling ??= import('../../remote/machine/send-hook-events.ts').then(({ serverRecorder: tellingServer }) =>
      tellingServer({ send: (callInput) => calls.send(callInput) }, context),
    )
    return (await telling)(hookEvents)
  }
  const calls: RemoteCalls = new RemoteCalls({ project, ingest: () => ingestFor(place.root, record) })
  return {
    project,
    calls,
    client,
    /** Sends the hook events of this machine. */
    record,
    captureHealth: context.captureHealth,
    /** The client's session that started this program. */
    caller: context.caller,
    close: async () => {
      await project.close()
      await closeContext(context)
    },
  }
}

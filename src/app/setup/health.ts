import type { ClientHealth } from '../../clients/ports/client-health.ts'
import { detectClients } from '../../clients/setup/detect.ts'
import { Disk } from '../../clients/setup/disk.ts'
import { clientsHealth, hasServerEntry } from '../../clients/setup/health.ts'
import { clientNamed } from '../../clients/setup/setup-clients.ts'
import type { MachineSetup } from '../../surfaces/http/serving.ts'
import type { Environment } from '../settings/environment.ts'
import { setupContextOf, stateFolderOf } from './read-setup-context.ts'
import { SetupRecords } from './records.ts'

/** Whether a client started in a folder has Waymark; null for a client that setup does not support. */
export function hasWaymark(id: string, folder: string, environment: Environment): boolean | null {
  const client = clientNamed(id)
  return client
    ? hasServerEntry(client, { context: setupContextOf(environment, folder), read: new Disk().read })
    : null
}

/** What a page of the project says of the setup on this machine. */
export function machineSetup(folder: string, environment: Environment): MachineSetup {
  const context = setupContextOf(environment, folder)
  const { read, exists } = new Disk()
  const found = detectClients(context, exists).filter(({ client }) =>
    hasServerEntry(client, { context, read }),
  )
  return {
    set_up: found.map(({ client }) => client.title),
    on_path: context.program.isNamed,
  }
}

/** Whether the clients of this machine work with this project. */
export function clientHealthHere(
  environment: Environment,
  project: string | undefined,
): Promise<readonly ClientHealth[]> {
  const context = setupContextOf(environment, project)
  const records = new SetupRecords(stateFolderOf(context))
  const { read, exists } = new Disk()
  return clientsHealth({ context, read, exists, changesOf: (file) => records.of(file)?.changes ?? [] })
}

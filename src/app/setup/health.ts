import type { ClientHealth } from '../../clients/ports/client-health.ts'
import { clientNamed } from '../../clients/setup/clients.ts'
import { Disk } from '../../clients/setup/disk.ts'
import { clientsHealth, findsServer } from '../../clients/setup/health.ts'
import type { Environment } from '../settings/environment.ts'
import { groundOf, stateFolderOf } from './place.ts'
import { SetupRecords } from './records.ts'

/** Whether a client that is started in a folder has Waymark there; null where setup knows no files of it. */
export function hasWaymark(id: string, folder: string, environment: Environment): boolean | null {
  const client = clientNamed(id)
  return client ? findsServer(client, { ground: groundOf(environment, folder), read: new Disk().read }) : null
}

/** Whether the clients of this machine work with this project. */
export function clientsHere(
  environment: Environment,
  project: string | undefined,
): Promise<readonly ClientHealth[]> {
  const ground = groundOf(environment, project)
  const records = new SetupRecords(stateFolderOf(ground))
  const { read, exists } = new Disk()
  return clientsHealth({ ground, read, exists, changesOf: (file) => records.of(file)?.changes ?? [] })
}

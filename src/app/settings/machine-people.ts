import { homedir } from 'node:os'
import { join } from 'node:path'
import { writePrivate } from '../../kernel/files/private-file.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { stateFolder } from '../../kernel/files/state-folder.ts'
import { serverProject } from '../../people/domain/identity.ts'
import type { MachineOwner, OwnTokenKind, Team } from '../../people/ports/team.ts'
import { fingerprint } from '../../store/fingerprint.ts'
import { randomIds } from '../../store/random-ids.ts'
import { newSecret, secretHash } from '../../surfaces/http/auth/secret.ts'
import { deferredStore } from '../lazy-ports.ts'
import { userIdentity } from './actor.ts'
import { type Environment, firstSetVariable, userName } from './environment.ts'
import { personName } from './person-name.ts'
import { anchorOf, serverFolder } from './project-location.ts'

const maxTokenBytes = 1_000

/** The person record of this machine's user, in the state folder. Reading creates no files. */
export function openMachinePeople(
  environment: Environment,
  workingFolder: string,
): Team & { readonly owner: MachineOwner } {
  const store = deferredStore(async () => {
    const { openStore } = await import('../../store/store.ts')
    const file = join(serverFolder(environment), 'people.db')
    const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
    const state = stateFolder({ platform: process.platform, environment, home })
    const anchorFolder = anchorOf(state, { root: serverProject, database: file }, fingerprint)
    const place = {
      file,
      shared: true,
      root: '',
      project: serverProject,
      sandboxJournal: false,
      anchorFolder,
    }
    return openStore({ ...place, ids: randomIds })
  })
  const fileOf = (kind: OwnTokenKind) => join(serverFolder(environment), `${kind}.token`)
  const owner = {
    identity: userIdentity(userName()),
    name: () => personName(environment, workingFolder),
    readToken: (kind: OwnTokenKind) => readOwn(fileOf(kind), maxTokenBytes)?.toString('utf8').trim() ?? null,
    keepToken: (kind: OwnTokenKind, text: string) => writePrivate(fileOf(kind), `${text}\n`),
  }
  return { store, owner, newSecret, hashOf: secretHash }
}

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Actor } from '../kernel/actor.ts'
import { Failure } from '../kernel/failure.ts'
import { canWrite, type Machine, stateFolder } from '../kernel/files/state-folder.ts'
import type { Context } from '../kernel/operations/operation.ts'
import type { Clock } from '../kernel/ports/clock.ts'
import { messenger } from '../notifications/senders/messenger.ts'
import { serverProject } from '../people/domain/identity.ts'
import type { Team } from '../people/ports/team.ts'
import { captureHealth } from '../sessions/capture/health.ts'
import { fingerprint } from '../store/fingerprint.ts'
import type { Store } from '../store/ports/store.ts'
import { postgresPlace } from '../store/postgres/database-url.ts'
import { randomIds } from '../store/random-ids.ts'
import { newSecret, secretHash } from '../surfaces/http/auth/secret.ts'
import { ingestFor, recorderOf } from './capture/ingest-for.ts'
import { refreshLandings } from './landings.ts'
import {
  deferredCommandApprovals,
  deferredCommandRunner,
  deferredEvidenceFiles,
  deferredFileCopies,
  deferredLinkedTrees,
  deferredPlanFiles,
  deferredProcessFiles,
  deferredSetupFiles,
  deferredShownContents,
  deferredStore,
  deferredWitness,
  deferredWorkRestore,
  deferredWorkUndo,
  refusingWitness,
} from './lazy-ports.ts'
import { runningProgram, version } from './program.ts'
import { type Environment, firstSetVariable } from './settings/environment.ts'
import { openMachinePeople } from './settings/machine-people.ts'
import {
  anchorOf,
  databasePlace,
  enclosingTree,
  namedDatabase,
  projectFolder,
  projectRoot,
  projectStatePath,
  requestedFolder,
  rootWithoutGit,
  serverDatabase,
  unusableFolder,
  writableStateFolder,
} from './settings/project-location.ts'
import { refuseForeign } from './settings/regular-paths.ts'

export interface OpenProjectOptions {
  readonly actor: Actor
  readonly environment: Environment
  readonly workingFolder: string
  /** The value of `--project`. */
  readonly project?: string | undefined
  /** A project of a database on a server that has no folder on this machine. */
  readonly elsewhere?: { readonly id: string; readonly name: string }
  /** Whether webhooks may use private networks without a flag, as for a local user; the default. */
  readonly reachesPrivate?: boolean
  /** Shows the progress of a long call on the command line. */
  readonly tell?: (line: string) => void
}

const clock: Clock = { now: () => Date.now() }

/** Builds the program. The first call is the first to read or write, and reading creates no files. */
export function openContext(opening: OpenProjectOptions): Context {
  const { actor, environment, workingFolder, project, elsewhere, tell } = opening
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const request = { flag: project, environment, workingFolder }
  const machine = { platform: process.platform, environment, home }
  const folder = elsewhere
    ? join(stateFolder(machine), 'elsewhere', elsewhere.id)
    : projectFolder(request, (start) => enclosingTree(start, home))
  const refusal = elsewhere ? filesElsewhereFailure(elsewhere.name) : unusableFolder(folder, home)
  const server = serverDatabase(environment)
  const projectStateFolder = () => {
    if (writableStateFolder(machine, folder, canWrite) !== stateFolder(machine)) refuseForeign(folder)
    return stateOfWorkTree(opening, folder)
  }
  const witness = refusal
    ? refusingWitness(refusal)
    : deferredWitness(async () => {
        const { createWitness } = await import('../git/witness.ts')
        return createWitness({ stateFolder: projectStateFolder(), clock, environment })
      })
  const rootOfProject = async () => projectRoot((await witness.locate(folder)).mainTop)
  const store = deferredStore(async () => {
    if (!elsewhere)
      refuseForeign(rootHere(), (!server && databaseNamed(environment, workingFolder)) || undefined)
    if (server && elsewhere) {
      const { openPostgresStore } = await import('../store/postgres/store.ts')
      return openPostgresStore({ ...server, project: { id: elsewhere.id }, ids: randomIds })
    }
    if (elsewhere) return openFileStore({ environment, workingFolder, folder, machine }, elsewhere.id)
    const root = await rootOfProject()
    if (server) {
      const { openPostgresStore } = await import('../store/postgres/store.ts')
      return openPostgresStore({ ...server, project: requestedFolder(environment, root), ids: randomIds })
    }
    const place = databasePlace(environment, { root, working: workingFolder })
    const sandboxJournal =
      firstSetVariable(environment, ['TASKMAN_JOURNAL_MEMORY', 'CURSOR_AGENT']) !== undefined
    const { openStore } = await import('../store/store.ts')
    const state = writableStateFolder(machine, folder, canWrite)
    const anchorFolder = anchorOf(state, { root, database: place.file }, fingerprint)
    return openStore({ ...place, root, sandboxJournal, anchorFolder, ids: randomIds })
  })
  const program = runningProgram(projectStateFolder)
  const rootHere = () => rootWithoutGit(request)
  const team =
    namedDatabase(environment) === undefined
      ? openMachinePeople(environment, workingFolder)
      : openPeopleStore({ environment, workingFolder, folder, machine })
  const context: Context = {
    store,
    witness,
    clock,
    ids: randomIds,
    fingerprint,
    actor,
    folder,
    program,
    // A person at a terminal may name any file; an agent only those of the project.
    planFiles: deferredPlanFiles(workingFolder, actor.kind === 'agent' ? folder : null),
    processFiles: deferredProcessFiles(folder, workingFolder, actor.kind === 'agent'),
    evidenceFiles: deferredEvidenceFiles(),
    shownContents: deferredShownContents(projectStateFolder),
    setupFiles: deferredSetupFiles(stateFolder(machine)),
    linkedTrees: deferredLinkedTrees(environment),
    workUndo: deferredWorkUndo(projectStateFolder, environment, witness),
    workRestore: deferredWorkRestore(environment, witness),
    ...(elsewhere === undefined && { copies: deferredFileCopies(projectStateFolder, environment) }),
    ...callerField(opening),
    commandRunner: deferredCommandRunner(environment),
    // Outside the project: an agent in a sandbox must not write a person's answers.
    commandApprovals: deferredCommandApprovals(stateFolder(machine)),
    messenger: messenger(environment, {
      agent: `waymark/${version}`,
      reachesPrivate: opening.reachesPrivate ?? true,
    }),
    team,
    ...(!elsewhere && {
      captureHealth: () => captureHealth(rootHere(), environment),
      ingest: () => ingestFor(rootHere(), recorderOf(context)),
      refreshLandings: () =>
        // What is read is answered all the same.
        refreshLandings(context, projectStateFolder, environment).catch(() => undefined),
    }),
    ...(tell && {
      tell,
      clients: async () => {
        const { clientHealthHere: clientsHere } = await import('./setup/health.ts')
        return clientsHere(environment, project)
      },
    }),
  }
  return context
}

/** A stdio server inherits the id of its session from the client. */
function callerField({ actor, environment }: OpenProjectOptions): Pick<Context, 'caller'> {
  const session = firstSetVariable(environment, ['CLAUDE_CODE_SESSION_ID'])
  if (session === undefined || actor.channel !== 'stdio') return {}
  return { caller: { session, link: 'environment' } }
}

function filesElsewhereFailure(name: string): Failure {
  return new Failure('UNAVAILABLE', `The work tree of the project ${name} is not on this machine.`, {
    reason: 'files_on_other_machine',
    hint: 'Work on the machine that has it: run `waymark connect` there with the address of this server.',
    details: { elsewhere: true },
  })
}

/** The part of the state folder for a work tree of the project. */
export function stateOfWorkTree(
  { environment, workingFolder }: Pick<OpenProjectOptions, 'environment' | 'workingFolder'>,
  folder: string,
): string {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const machine = { platform: process.platform, environment, home }
  const state = writableStateFolder(machine, folder, canWrite)
  return projectStatePath(state, { folder, database: databaseNamed(environment, workingFolder) }, fingerprint)
}

/** Identifies a database without its password. */
export function databaseNamed(environment: Environment, workingFolder: string): string | null {
  const server = serverDatabase(environment)
  if (server) return postgresPlace(server.url).label
  const named = firstSetVariable(environment, ['WAYMARK_DATABASE', 'TASKMAN_DB_NAME'])
  return named === undefined ? null : resolve(workingFolder, named)
}

interface OpenTeamOptions extends Pick<OpenProjectOptions, 'environment' | 'workingFolder'> {
  readonly folder: string
  readonly machine: Machine
}

/** The people of a server are stored as a reserved project in the same database. */
function openPeopleStore({ environment, workingFolder, folder, machine }: OpenTeamOptions): Team {
  const server = serverDatabase(environment)
  const store = deferredStore(async () => {
    if (server) {
      const { openPostgresStore } = await import('../store/postgres/store.ts')
      return openPostgresStore({ ...server, project: { id: serverProject }, ids: randomIds })
    }
    return openFileStore({ environment, workingFolder, folder, machine }, serverProject)
  })
  return { store, owner: null, newSecret, hashOf: secretHash }
}

/** A project of a database file without a folder, by its id. */
async function openFileStore(
  { environment, workingFolder, folder, machine }: OpenTeamOptions,
  project: string,
): Promise<Store> {
  const place = databasePlace(environment, { root: folder, working: workingFolder })
  const { openStore } = await import('../store/store.ts')
  const state = writableStateFolder(machine, folder, canWrite)
  const anchorFolder = anchorOf(state, { root: project, database: place.file }, fingerprint)
  const options = { root: '', project, sandboxJournal: false, anchorFolder }
  return openStore({ ...place, ...options, ids: randomIds })
}

/** Ends background work, so that the process can exit. */
export async function closeContext({ store, witness, commandRunner, team }: Context): Promise<void> {
  await commandRunner.stop()
  await witness.settle()
  await store.close()
  await team?.store.close()
}

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Actor } from '../domain/actor.ts'
import type { Context } from '../operations/operation.ts'
import type { Clock } from '../ports/clock.ts'
import { fingerprint } from '../storage/fingerprint.ts'
import { randomIds } from '../storage/random-ids.ts'
import {
  deferredCommandApprovals,
  deferredCommandRunner,
  deferredEvidenceFiles,
  deferredLinkedTrees,
  deferredPlanFiles,
  deferredProcessFiles,
  deferredShownContents,
  deferredStore,
  deferredWitness,
  refusingWitness,
} from './deferred.ts'
import { runningProgram, version } from './program.ts'
import { type Environment, firstSet } from './settings/environment.ts'
import {
  anchorOf,
  canWrite,
  databasePlace,
  enclosingTree,
  projectFolder,
  projectRoot,
  projectState,
  stateFolder,
  unusableFolder,
  writableStateFolder,
} from './settings/places.ts'

export interface Opening {
  readonly actor: Actor
  readonly environment: Environment
  readonly workingFolder: string
  /** The value of `--project`. */
  readonly project?: string | undefined
}

const clock: Clock = { now: () => Date.now() }

/** Puts the program together. Nothing is read or written before the first call, and reading creates nothing. */
export function openContext({ actor, environment, workingFolder, project }: Opening): Context {
  const home = firstSet(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const request = { flag: project, environment, workingFolder }
  const folder = projectFolder(request, (start) => enclosingTree(start, home))
  const refusal = unusableFolder(folder, home)
  const machine = { platform: process.platform, environment, home }
  const database = firstSet(environment, ['WAYMARK_DATABASE', 'TASKMAN_DB_NAME'])
  const identity = {
    folder,
    database: database === undefined ? null : resolve(workingFolder, database),
  }
  const projectStateFolder = () =>
    projectState(writableStateFolder(machine, folder, canWrite), identity, fingerprint)
  const witness = refusal
    ? refusingWitness(refusal)
    : deferredWitness(async () => {
        const { createWitness } = await import('../git/witness.ts')
        return createWitness({ stateFolder: projectStateFolder(), clock, environment })
      })
  const store = deferredStore(async () => {
    const root = projectRoot((await witness.locate(folder)).mainTop)
    const place = databasePlace(environment, { root, working: workingFolder })
    const sandboxJournal = firstSet(environment, ['TASKMAN_JOURNAL_MEMORY', 'CURSOR_AGENT']) !== undefined
    const { openStore } = await import('../storage/store.ts')
    const state = writableStateFolder(machine, folder, canWrite)
    const anchorFolder = anchorOf(state, { root, database: place.file }, fingerprint)
    return openStore({ ...place, root, sandboxJournal, anchorFolder, program: version, ids: randomIds })
  })
  const program = runningProgram(projectStateFolder)
  return {
    store,
    witness,
    clock,
    ids: randomIds,
    fingerprint,
    actor,
    folder,
    program,
    planFiles: deferredPlanFiles(workingFolder),
    processFiles: deferredProcessFiles(folder, workingFolder),
    evidenceFiles: deferredEvidenceFiles(),
    shownContents: deferredShownContents(projectStateFolder),
    linkedTrees: deferredLinkedTrees(environment),
    commandRunner: deferredCommandRunner(environment),
    // Never in the project, where an agent in a sandbox could write what a person has to.
    commandApprovals: deferredCommandApprovals(stateFolder(machine)),
  }
}

/** Ends what goes on in the background, so that the process can exit. */
export async function closeContext({ store, witness, commandRunner }: Context): Promise<void> {
  await commandRunner.stop()
  await witness.settle()
  await store.close()
}

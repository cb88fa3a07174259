import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SetupFiles } from '../clients/ports/setup-files.ts'
import { isRunnerAlive, runnerName } from '../gate/commands/os-processes.ts'
import type { CommandApprovals, CommandRunner } from '../gate/ports/command-runner.ts'
import type { EvidenceFiles, PreviewStore } from '../gate/ports/evidence-files.ts'
import type {
  FileCopies,
  LinkedTrees,
  WorkRestore,
  WorkTreeWitness,
  WorkUndo,
} from '../git/ports/work-tree.ts'
import type { Failure } from '../kernel/failure.ts'
import type { PlanFiles, ProcessFiles } from '../project/ports/project-files.ts'
import type { Store } from '../store/ports/store.ts'
import type { Environment } from './settings/environment.ts'

interface LazyPart<Part> {
  /** Loads the part once; retries a failure at the next call. */
  readonly now: () => Promise<Part>
  /** Null until the part is first needed. */
  readonly ifLoading: () => Promise<Part | null>
}

function loadOnce<Part>(load: () => Promise<Part>): LazyPart<Part> {
  let part: Promise<Part> | null = null
  return {
    now: () => {
      part ??= load().catch((error: unknown) => {
        part = null
        throw error
      })
      return part
    },
    ifLoading: async () => part,
  }
}

/**
 * The methods of a part that is loaded at their first call, to keep the start fast.
 */
function deferMethods<Part extends object, const Name extends keyof Part>(
  { now }: LazyPart<Part>,
  names: readonly Name[],
): Pick<Part, Name> {
  const methods = names.map((name) => {
    const call = async (...given: readonly unknown[]): Promise<unknown> => {
      const part = await now()
      const method: unknown = Reflect.get(part, name)
      return typeof method === 'function' ? Reflect.apply(method, part, given) : method
    }
    return [name, call] as const
  })
  return Object.fromEntries(methods) as Pick<Part, Name> // each calls the method of its name
}

/** A store that is opened at the first query, because finding it takes a call of git. */
export function deferredStore(find: () => Promise<Store>): Store {
  const store = loadOnce(find)
  return {
    ...deferMethods(store, ['record', 'view', 'replay', 'restore', 'sideRows', 'inspect', 'inspectChain']),
    ...deferMethods(store, ['repair', 'accept', 'backup', 'putBack', 'health', 'unreadiness', 'notice']),
    async *follow(after, signal) {
      yield* (await store.now()).follow(after, signal)
    },
    close: async () => (await store.ifLoading())?.close(),
  }
}

export function deferredWitness(find: () => Promise<WorkTreeWitness>): WorkTreeWitness {
  const witness = loadOnce(find)
  return {
    ...deferMethods(witness, ['lines']),
    history: deferMethods(
      loadOnce(async () => (await witness.now()).history),
      ['file', 'blame', 'commits', 'files', 'landing', 'hashes'],
    ),
    contents: deferMethods(
      loadOnce(async () => (await witness.now()).contents),
      ['states', 'heldPaths', 'read'],
    ),
    ...deferMethods(witness, [
      'locate',
      'others',
      'snapshot',
      'changes',
      'branch',
      'linkTargets',
      'touchedPaths',
      'unifiedDiff',
    ]),
    ...deferMethods(witness, [
      'elsewhere',
      'lostFiles',
      'changedSince',
      'matching',
      'overlapping',
      'packages',
      'treeHash',
      'content',
      'sweep',
    ]),
    settle: async () => (await witness.ifLoading())?.settle(),
  }
}

/** The witness without a project: each call fails. */
export function refusingWitness(failure: Failure): WorkTreeWitness {
  return { ...deferredWitness(() => Promise.reject(failure)), sweep: async () => 0 }
}

/** The runner of commands, loaded when one is started. */
export function deferredCommandRunner(environment: Environment): CommandRunner {
  const runner = loadOnce(async () => {
    const { commandRunner } = await import('../gate/commands/command-runner.ts')
    return commandRunner(environment)
  })
  return {
    ...deferMethods(runner, ['start']),
    name: runnerName(),
    isAlive: isRunnerAlive,
    stop: async () => (await runner.ifLoading())?.stop(),
  }
}

/** The commands that people approved. */
export function deferredCommandApprovals(stateFolder: string): CommandApprovals {
  const approvals = loadOnce(async () => {
    const { commandApprovals } = await import('../gate/commands/command-approvals.ts')
    return commandApprovals(stateFolder)
  })
  return {
    ...deferMethods(approvals, ['hashOf', 'filesOf', 'isApproved', 'approve', 'list']),
    ...deferMethods(approvals, ['refuse', 'refusalOf', 'refusedIn', 'revoke']),
  }
}

/** The reader of plans. Paths are relative to the caller's folder; agents stay inside it. */
export function deferredPlanFiles(workingFolder: string, confinedTo: string | null): PlanFiles {
  const files = loadOnce(async () => {
    const { planFiles } = await import('../plan/import/plan-files.ts')
    return planFiles(workingFolder, confinedTo)
  })
  return deferMethods(files, ['load'])
}

export function deferredProcessFiles(project: string, working: string, isConfined: boolean): ProcessFiles {
  const files = loadOnce(async () => {
    const { processFiles } = await import('../gate/process-files/process-files.ts')
    return processFiles({ project, working, shipped: shippedFolder(), isConfined })
  })
  return deferMethods(files, ['list', 'hasOwn', 'load', 'read'])
}

/** The bundle is one folder below the top of the package, this file two. */
function shippedFolder(): string {
  const bundled = join(import.meta.dirname, '..', 'processes')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, '..', '..', 'processes')
}

export function deferredEvidenceFiles(): EvidenceFiles {
  const files = loadOnce(async () => {
    const { evidenceFiles } = await import('../gate/evidence/evidence-files.ts')
    return evidenceFiles()
  })
  return deferMethods(files, ['read', 'freshness', 'contents'])
}

/** The contents that were shown to people. */
export function deferredShownContents(stateFolder: () => string): PreviewStore {
  const contents = loadOnce(async () => {
    const { shownContents } = await import('../gate/evidence/preview-store.ts')
    return shownContents(stateFolder())
  })
  return deferMethods(contents, ['isKept', 'keep', 'since'])
}

/** The files that setup wrote on this machine. */
export function deferredSetupFiles(stateFolder: string): SetupFiles {
  const files = loadOnce(async () => {
    const { setupFiles } = await import('./setup/records.ts')
    return setupFiles(stateFolder)
  })
  return deferMethods(files, ['wrote'])
}

export function deferredLinkedTrees(environment: Environment): LinkedTrees {
  const trees = loadOnce(async () => {
    const { linkedTrees } = await import('../git/linked-trees.ts')
    return linkedTrees(environment)
  })
  return deferMethods(trees, ['bound', 'list', 'add', 'losses', 'remove', 'discard'])
}

export function deferredWorkUndo(
  stateFolder: () => string,
  environment: Environment,
  witness: WorkTreeWitness,
): WorkUndo {
  const undo = loadOnce(async () => {
    const { workUndo } = await import('../git/undo.ts')
    return workUndo({ stateFolder, environment, witness })
  })
  return deferMethods(undo, ['plan', 'apply'])
}

export function deferredWorkRestore(environment: Environment, witness: WorkTreeWitness): WorkRestore {
  const restore = loadOnce(async () => {
    const { workRestore } = await import('../git/restore.ts')
    return workRestore({ environment, witness })
  })
  return deferMethods(restore, ['plan', 'apply'])
}

export function deferredFileCopies(stateFolder: () => string, environment: Environment): FileCopies {
  const copies = loadOnce(async () => {
    const { fileCopies } = await import('../git/copies.ts')
    return fileCopies({ stateFolder: stateFolder(), environment })
  })
  return deferMethods(copies, ['keep', 'contents', 'amend', 'linesOf'])
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isRunnerAlive, runnerName } from '../commands/processes.ts'
import type { Failure } from '../domain/failure.ts'
import type { CommandApprovals, CommandRunner } from '../ports/command-runner.ts'
import type { EvidenceFiles, ShownContents } from '../ports/evidence-files.ts'
import type { PlanFiles, ProcessFiles } from '../ports/project-files.ts'
import type { Store } from '../ports/store.ts'
import type { LinkedTrees, WorkTreeWitness } from '../ports/work-tree.ts'
import type { Environment } from './settings/environment.ts'

/** A store that is found at the first question, because where it lies takes git to know. */
export function deferredStore(find: () => Promise<Store>): Store {
  let finding: Promise<Store> | null = null
  const store = (): Promise<Store> => {
    // What could not be found is looked for again: the next call may come after it was mended.
    finding ??= find().catch((error: unknown) => {
      finding = null
      throw error
    })
    return finding
  }
  return {
    record: async (request) => (await store()).record(request),
    view: async (look) => (await store()).view(look),
    replay: async (idempotency) => (await store()).replay(idempotency),
    restore: async (facts) => (await store()).restore(facts),
    inspect: async (how) => (await store()).inspect(how),
    inspectChain: async () => (await store()).inspectChain(),
    repair: async (at) => (await store()).repair(at),
    accept: async (at) => (await store()).accept(at),
    backup: async (file) => (await store()).backup(file),
    putBack: async (backup, at) => (await store()).putBack(backup, at),
    health: async () => (await store()).health(),
    async *follow(after, signal) {
      yield* (await store()).follow(after, signal)
    },
    close: async () => {
      if (finding) await (await finding).close()
    },
  }
}

/** A witness that is loaded at the first question: a server that starts has more urgent things to load. */
export function deferredWitness(find: () => Promise<WorkTreeWitness>): WorkTreeWitness {
  let finding: Promise<WorkTreeWitness> | null = null
  const witness = (): Promise<WorkTreeWitness> => {
    finding ??= find()
    return finding
  }
  return {
    locate: async (folder) => (await witness()).locate(folder),
    others: async (folder) => (await witness()).others(folder),
    snapshot: async (request) => (await witness()).snapshot(request),
    changes: async (from, to) => (await witness()).changes(from, to),
    touched: async (from, to) => (await witness()).touched(from, to),
    unifiedDiff: async (from, to, paths) => (await witness()).unifiedDiff(from, to, paths),
    packages: async (place) => (await witness()).packages(place),
    treeHash: async (folder) => (await witness()).treeHash(folder),
    content: async (folder) => (await witness()).content(folder),
    settle: async () => {
      if (finding) await (await finding).settle()
    },
    sweep: async (keep) => (await witness()).sweep(keep),
  }
}

/** The reader of plans, loaded when one is read. Relative paths are meant from where the caller stands. */
export function deferredPlanFiles(workingFolder: string): PlanFiles {
  return {
    load: async (path, format) => {
      const { planFiles } = await import('../plans/plan-files.ts')
      return planFiles(workingFolder).load(path, format)
    },
  }
}

/** The reader of processes, loaded when one is read. */
export function deferredProcessFiles(project: string, working: string): ProcessFiles {
  const reader = async (): Promise<ProcessFiles> => {
    const { processFiles } = await import('../definitions/process-files.ts')
    return processFiles({ project, working, shipped: shippedFolder() })
  }
  return {
    list: async () => (await reader()).list(),
    hasOwn: async () => (await reader()).hasOwn(),
    load: async (idOrFile) => (await reader()).load(idOrFile),
  }
}

/** The bundle lies one folder below the top of the package, this file two. */
function shippedFolder(): string {
  const bundled = join(import.meta.dirname, '..', 'processes')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, '..', '..', 'processes')
}

/** The reader of evidence, loaded when some is read. */
export function deferredEvidenceFiles(): EvidenceFiles {
  const reader = async (): Promise<EvidenceFiles> => {
    const { evidenceFiles } = await import('../evidence/evidence-files.ts')
    return evidenceFiles()
  }
  return {
    read: async (folder, paths) => (await reader()).read(folder, paths),
    freshness: async (folder, files) => (await reader()).freshness(folder, files),
    contents: async (folder, paths) => (await reader()).contents(folder, paths),
  }
}

/** What people were shown, loaded when it is asked for. */
export function deferredShownContents(stateFolder: () => string): ShownContents {
  const kept = async (): Promise<ShownContents> => {
    const { shownContents } = await import('../evidence/shown-contents.ts')
    return shownContents(stateFolder())
  }
  return {
    keep: async (content, parts) => (await kept()).keep(content, parts),
    since: async (content, now) => (await kept()).since(content, now),
  }
}

/** Work trees, loaded when one is asked for. */
export function deferredLinkedTrees(environment: NodeJS.ProcessEnv): LinkedTrees {
  const trees = async (): Promise<LinkedTrees> => {
    const { linkedTrees } = await import('../git/linked-trees.ts')
    return linkedTrees(environment)
  }
  return {
    bound: async (folder) => (await trees()).bound(folder),
    list: async (folder) => (await trees()).list(folder),
    add: async (tree) => (await trees()).add(tree),
    remove: async (folder, tree) => (await trees()).remove(folder, tree),
  }
}

/** The runner of commands, loaded when one is started. */
export function deferredCommandRunner(environment: Environment): CommandRunner {
  let loading: Promise<CommandRunner> | null = null
  const load = async (): Promise<CommandRunner> => {
    const { commandRunner } = await import('../commands/command-runner.ts')
    return commandRunner(environment)
  }
  return {
    name: runnerName(),
    start: async (command) => {
      loading ??= load()
      return (await loading).start(command)
    },
    isAlive: isRunnerAlive,
    stop: async () => {
      if (loading) await (await loading).stop()
    },
  }
}

/** What a person allowed to be run, loaded when it is asked for. */
export function deferredCommandApprovals(stateFolder: string): CommandApprovals {
  const approvals = async (): Promise<CommandApprovals> => {
    const { commandApprovals } = await import('../commands/command-approvals.ts')
    return commandApprovals(stateFolder)
  }
  return {
    hashOf: async (command) => (await approvals()).hashOf(command),
    filesOf: async (command) => (await approvals()).filesOf(command),
    isApproved: async (hash) => (await approvals()).isApproved(hash),
    approve: async (approval) => (await approvals()).approve(approval),
    list: async (folders) => (await approvals()).list(folders),
    refuse: async (refusal) => (await approvals()).refuse(refusal),
    refusalOf: async (hash) => (await approvals()).refusalOf(hash),
    refused: async (folders) => (await approvals()).refused(folders),
    revoke: async (hash) => (await approvals()).revoke(hash),
  }
}

/** The witness where there is no project: it says so. */
export function refusingWitness(failure: Failure): WorkTreeWitness {
  const refuse = () => Promise.reject(failure)
  return {
    locate: refuse,
    others: refuse,
    snapshot: refuse,
    changes: refuse,
    touched: refuse,
    unifiedDiff: refuse,
    packages: refuse,
    treeHash: refuse,
    content: refuse,
    settle: () => Promise.resolve(),
    sweep: () => Promise.resolve(0),
  }
}

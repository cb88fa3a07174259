import { randomUUID } from 'node:crypto'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { HookAttempt } from '../gate/domain/hook/judge.ts'
import type { SettingName } from '../gate/domain/run.ts'
import { settingOf } from '../gate/domain/settings.ts'
import {
  type AgentAtWork,
  agentsAtWork,
  attemptsAtWork,
  attemptsOfCaller,
  type GitGuardResult,
  type GuardCaller,
  guardGit,
} from '../gate/operations/guard-git.ts'
import { readAliases } from '../git/aliases.ts'
import { createWitness } from '../git/witness.ts'
import { canWrite, removeFromState } from '../kernel/files/state-folder.ts'
import type { WorkTree } from '../kernel/operations/measurement-protocol.ts'
import { pathBelow } from '../kernel/path-below.ts'
import { fingerprint } from '../store/fingerprint.ts'
import type { Store } from '../store/ports/store.ts'
import { postgresPlace } from '../store/postgres/database-url.ts'
import { randomIds } from '../store/random-ids.ts'
import { type Environment, firstSetVariable } from './settings/environment.ts'
import {
  anchorOf,
  enclosingTree,
  mainTree,
  projectStatePath,
  serverDatabase,
  writableStateFolder,
} from './settings/project-location.ts'

/** The project and the script of a guarded shell command. */
export interface GuardCall {
  readonly script: string
  readonly folder: string
  readonly caller: GuardCaller
  readonly environment: Environment
  readonly settings: ReadonlyMap<SettingName, string>
  readonly top: string
  /** The project's root. */
  readonly root: string
}

function machineState({ environment, top }: Pick<GuardCall, 'environment' | 'top'>): string {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  return writableStateFolder({ platform: process.platform, environment, home }, top, canWrite)
}

/** Guards a command with the record of this machine, and records what it kept. */
export async function guardLocally(
  call: GuardCall,
  store: Store,
  openForWriting: (anchorFolder: (database: string) => string) => Promise<Store | null>,
): Promise<GitGuardResult> {
  const now = Date.now()
  const result = await guard(call, () => store.view((reads) => agentsAtWork(reads, call.caller, now)))
  if (result.guarded.length > 0) {
    const writing = await openForWriting((database) =>
      anchorOf(machineState(call), { root: call.root, database }, fingerprint),
    )
    await writing?.record({
      actor: { name: call.caller.client, kind: 'agent', role: null, channel: 'cli' },
      at: now,
      decide: async () => ({
        events: result.guarded.map((command) => ({
          kind: 'command.guarded',
          command: { ...command, id: randomIds.next('snapshot') },
        })),
        answer: null,
      }),
    })
  }
  return result
}

/** Guards a command where the record is elsewhere: the snapshot stays on this machine and is not recorded there. */
export function guardRemotely(call: GuardCall, attempts: readonly HookAttempt[]): Promise<GitGuardResult> {
  const open = attempts.map(({ attempt }) => attempt)
  return guard(call, async () => attemptsAtWork(open, call.caller))
}

/** Measures the work tree of a hook, with its snapshots where servers remove what is no longer needed. */
function openHookWitness(call: Pick<GuardCall, 'environment' | 'top' | 'root'>) {
  const { environment, root } = call
  const server = serverDatabase(environment)
  const named = firstSetVariable(environment, ['WAYMARK_DATABASE', 'TASKMAN_DB_NAME'])
  const database = server ? postgresPlace(server.url).label : named === undefined ? null : resolve(named)
  // Of the project's root: a work tree may have another.
  const state = projectStatePath(machineState(call), { folder: root, database }, fingerprint)
  const witness = createWitness({
    stateFolder: state,
    clock: { now: () => Date.now() },
    environment,
    endsWithAnswer: true,
  })
  return { witness, discard: (name: string) => void removeFromState(state, join(state, 'snapshots', name)) }
}

/** Why the open attempts of a stopping agent would be contradicted, each with its task. */
export async function checkStop(
  call: Omit<GuardCall, 'script' | 'settings'>,
  store: Store,
): Promise<readonly string[]> {
  const { witness, discard } = openHookWitness(call)
  const { stopReasons } = await import('../track/operations/stop-check.ts')
  return store.view(async (reads) => {
    const open = (await reads.tasks.openAttempts()).filter(({ snapshot }) => snapshot.top === call.top)
    const own = await attemptsOfCaller(reads, open, call.caller)
    const found = await Promise.all(
      own.slice(0, maxStopChecks).map(async (attempt) => {
        const name = `stop-${randomUUID()}`
        // The rest of a work tree is for other measurements.
        const workTree = { witness, now: () => Date.now(), snapshotName: () => name } as unknown as WorkTree
        try {
          const reasons = await stopReasons(reads, attempt, workTree)
          return reasons.length === 0
            ? []
            : [`Task ${attempt.taskId} would be contradicted: ${reasons.join(' ')}`]
        } finally {
          discard(name)
        }
      }),
    )
    return found.flat()
  })
}

const maxStopChecks = 3

async function guard(
  call: GuardCall,
  agents: () => Promise<readonly AgentAtWork[]>,
): Promise<GitGuardResult> {
  const { script, folder, caller, environment, settings, top } = call
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const { witness, discard } = openHookWitness(call)
  let aliases: ReadonlyMap<string, string> | null = null
  return guardGit(script, folder, caller, {
    agents,
    witness,
    now: () => Date.now(),
    snapshotName: () => `guard-${randomUUID()}`,
    discard,
    resolve,
    topOf: (path) => {
      const real = realPath(path)
      const found = real === null ? null : enclosingTree(real, home)
      // Of repositories elsewhere nobody's work is known here, and none of their files is kept.
      return found !== null && isOfProject(found, top) ? found : null
    },
    prefixOf: (path, of) => {
      const inside = pathBelow(of, realPath(path) ?? path) ?? ''
      return inside === '' ? '' : `${inside}/`
    },
    exists: (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
    aliases: (name) => {
      aliases ??= readAliases(environment, mainTree(top))
      return aliases.get(name.toLowerCase())
    },
    mode: settingOf(settings, 'guard_git'),
  })
}

/** Whether a work tree is one of this repository, or lies in this work tree. */
function isOfProject(tree: string, top: string): boolean {
  return pathBelow(top, tree) !== null || mainTree(tree) === mainTree(top)
}

/** The path with links resolved, of its nearest folder that exists. Null for none. */
function realPath(path: string): string | null {
  try {
    return existsSync(path) ? realpathSync.native(path) : null
  } catch {
    return null
  }
}

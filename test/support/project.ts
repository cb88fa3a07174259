import { deepStrictEqual as deepEqual } from 'node:assert'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { commandApprovals } from '../../src/gate/commands/command-approvals.ts'
import { commandRunner } from '../../src/gate/commands/command-runner.ts'
import { evidenceFiles } from '../../src/gate/evidence/evidence-files.ts'
import { shownContents } from '../../src/gate/evidence/preview-store.ts'
import { processFiles } from '../../src/gate/process-files/process-files.ts'
import { fileCopies } from '../../src/git/copies.ts'
import { linkedTrees } from '../../src/git/linked-trees.ts'
import { workRestore } from '../../src/git/restore.ts'
import { workUndo } from '../../src/git/undo.ts'
import { createWitness } from '../../src/git/witness.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { Failure, type MissingKind } from '../../src/kernel/failure.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { type InvokeOptions, invoke } from '../../src/kernel/operations/invoke.ts'
import type { Context, Operation } from '../../src/kernel/operations/operation.ts'
import { messenger } from '../../src/notifications/senders/messenger.ts'
import { planFiles } from '../../src/plan/import/plan-files.ts'
import { fingerprint } from '../../src/store/fingerprint.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { openStore } from '../../src/store/store.ts'
import { commitCopied } from './copied-folder.ts'
import { git as runGit } from './git.ts'
import { plantDatabase } from './planted-database.ts'
import { isPostgresLeftOut, plantedPostgres, sharedPostgres } from './postgres/database.ts'
import { removeFolder } from './removed-folder.ts'
import { whenFinished } from './shared.ts'
import { isThroughMachine, throughMachine } from './through-machine.ts'

/** An answer in a test, of any operation: read freely, whatever is missing is undefined. */
export type Answer = any

export interface TestProject {
  readonly folder: string
  readonly context: Context
  /** Calls an operation by name, as an agent on stdio unless `actor` says otherwise. */
  readonly call: (
    name: string,
    input?: object,
    options?: InvokeOptions & { readonly actor?: Actor; readonly context?: Context },
  ) => Promise<Answer>
  /** How a call is refused, as data: a test compares these, and not the sentence. */
  readonly refused: (
    name: string,
    input?: object,
    options?: { readonly actor?: Actor },
  ) => Promise<RefusalData>
  readonly git: (...args: readonly string[]) => string
  readonly write: (path: string, content: string) => void
  readonly remove: (path: string) => void
  /** Moves the clock on, in milliseconds. */
  readonly wait: (milliseconds: number) => void
}

const shippedProcesses = join(import.meta.dirname, '..', '..', 'processes')

export const agentActor: Actor = { name: 'test-agent', kind: 'agent', role: null, channel: 'stdio' }
export const person: Actor = { name: 'Tess', kind: 'person', role: null, channel: 'cli' }

/** What is committed in a new project. */
export const projectFiles = {
  'README.md': '# Project\n',
  'src/auth.ts': 'export const auth = 1\n',
  'src/api.ts': 'export const api = 1\n',
  'utils.ts': 'export const utils = 1\n',
}

/** The refusal that a call ends in. */
export async function refusalOf(answer: Promise<unknown>): Promise<Failure> {
  const ended = await answer.then(
    () => null,
    (error: unknown) => error,
  )
  if (ended instanceof Failure) return ended
  if (ended !== null) throw ended
  throw new Error('the call was not refused')
}

/** A refusal as data; the message is for the few tests of a sentence. */
export type RefusalData = Pick<Failure, 'code' | 'reason' | 'fix' | 'details' | 'message' | 'hint'>

export async function refusedBy(answer: Promise<unknown>): Promise<RefusalData> {
  const { code, reason, fix, details, message, hint } = await refusalOf(answer)
  return { code, reason, fix, details, message, hint }
}

/** A refusal of an input for these fields. */
export function wrongFields(...fields: readonly string[]) {
  return { code: 'INVALID_INPUT', reason: 'input_invalid', details: { fields } }
}

/** A refusal of an id that names nothing of this kind. */
export function notFound(kind: MissingKind) {
  return { code: 'NOT_FOUND', reason: `${kind.replaceAll(' ', '_')}_not_found` }
}

export interface ProjectOptions {
  readonly git?: boolean
  /** Makes the folder with its repository, instead of one with a few committed files. */
  readonly fill?: (folder: string) => void
  /** False: there is no database before the first write. */
  readonly database?: boolean
  /** Calls come from a remote machine, over the wire; by default where the environment of the tests says so. */
  readonly isOnMachine?: boolean
  /** The URL of a database on a server that keeps the record; by default a file does. */
  readonly postgres?: string
  /** The project's folder below the work tree's top; the top when left out. */
  readonly within?: string
  /** In a database where no other project is, where all projects of the tests are on a server. */
  readonly isAlone?: boolean
  /** False: webhooks go to no private network unless they were said to. */
  readonly reachesPrivate?: boolean
  /** False: successful completions are judged as they are given. By default they say why no file had to change. */
  readonly explainsNoChange?: boolean
  /** How long a call from a remote machine waits for its commands, in milliseconds. */
  readonly machinePatience?: number
}

/** A real project in a temporary folder: real git unless asked otherwise, a real database, real snapshots. */
export async function openProject(options: ProjectOptions = {}): Promise<TestProject> {
  const isOnMachine = options.isOnMachine ?? isThroughMachine()
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-project-')))
  const folder = join(home, 'tree')
  const git = (...args: readonly string[]) => runGit(folder, ...args)
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  if (options.git === false) for (const [path, content] of Object.entries(projectFiles)) write(path, content)
  else if (options.fill) options.fill(folder)
  else commitCopied(folder, projectFiles)
  let now = Date.now()
  let started = performance.now()
  const clock = { now: () => Math.round(now + performance.now() - started) }
  const ids = randomIds
  const file = join(folder, '.waymark', 'waymark.db')
  const onServer = options.postgres ?? (await everyProjectOnServer(options.isAlone))
  if (options.database !== false && onServer === null) await plantDatabase(file)
  const store =
    onServer === null
      ? openStore({ file, shared: false, root: folder, sandboxJournal: false, ids })
      : openPostgresStore({ url: onServer, project: { root: folder, name: null, machine: 'laptop' }, ids })
  const stateFolder = join(home, 'state')
  const witness = createWitness({ stateFolder, clock })
  const program = { version: '0.0.0', node: process.versions.node, platform: process.platform, stateFolder }
  const context: Context = {
    planFiles: planFiles(folder, null),
    processFiles: processFiles({
      project: folder,
      working: folder,
      shipped: shippedProcesses,
      isConfined: false,
    }),
    evidenceFiles: evidenceFiles(),
    shownContents: shownContents(stateFolder),
    linkedTrees: linkedTrees(process.env),
    workUndo: workUndo({ stateFolder: () => stateFolder, witness }),
    workRestore: workRestore({ witness }),
    copies: fileCopies({ stateFolder }),
    commandRunner: commandRunner(),
    commandApprovals: commandApprovals(stateFolder),
    messenger: messenger(process.env, {
      agent: 'waymark/0.0.0',
      reachesPrivate: options.reachesPrivate ?? true,
    }),
    store,
    witness,
    clock,
    ids,
    fingerprint,
    actor: agentActor,
    folder: join(folder, options.within ?? ''),
    program,
  }
  whenFinished(async () => {
    await context.commandRunner.stop()
    await witness.settle()
    await store.close()
    removeFolder(home)
  })

  const call: TestProject['call'] = async (
    name,
    input = {},
    { actor, context: around = context, ...rest } = {},
  ) => {
    const operation = catalog.find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`no operation ${name}`)
    const acting = actor ? { ...around, actor } : around
    const given = options.explainsNoChange === false ? input : withNoChangeReason(name, input)
    const work = (within: Context) => invoke(operation, within, given, rest)
    const answer = isOnMachine
      ? (
          await throughMachine(acting, name, work, {
            patience: options.machinePatience,
            input: given,
          })
        ).answer
      : await work(acting)
    assertDeclared(operation, answer)
    return answer
  }
  return {
    folder,
    context,
    call,
    refused: async (name, input, more) => {
      return refusedBy(call(name, input, more))
    },
    git,
    write,
    remove: (path) => rmSync(join(folder, path), { recursive: true }),
    wait: (milliseconds) => {
      now = clock.now() + milliseconds
      started = performance.now()
    },
  }
}

/** Most tests complete tasks without changing a file: without a reason, each would open an inbox item. */
function withNoChangeReason(name: string, input: object): object {
  const { status, outcome } = input as Answer // an input of any operation
  if (name !== 'complete_task' || status !== 'success' || typeof outcome !== 'object') return input
  return { ...input, outcome: { no_change_reason: 'The test needs no change.', ...outcome } }
}

/** An answer holds what its operation declares, and nothing else. */
export function assertDeclared({ name, output }: Operation, answer: unknown): void {
  const sent: unknown = JSON.parse(JSON.stringify(answer))
  const declared = output.safeParse(sent)
  if (!declared.success)
    throw new Error(`${name} answers what it does not declare: ${declared.error.message}`)
  deepEqual(declared.data, sent, `${name} answers what it does not declare: ${JSON.stringify(sent)}`)
}

/** The database of the tests where `WAYMARK_TEST_ENGINE` is postgres; otherwise null: each project has a file. */
export async function everyProjectOnServer(isAlone = false): Promise<string | null> {
  if (process.env['WAYMARK_TEST_ENGINE'] !== 'postgres' || isPostgresLeftOut) return null
  // It goes with the server of this run.
  return isAlone ? (await plantedPostgres()).url : sharedPostgres()
}

/** What `doctor` found wrong with the record, whatever it says of the server's own settings. */
export function troubles({ checks }: Answer): readonly string[] {
  return checks
    .filter(({ check, ok }: Answer) => !ok && check !== 'database')
    .map(({ finding }: Answer) => finding)
}

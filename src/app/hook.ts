import { existsSync, fstatSync, readSync, realpathSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { settingOf } from '../gate/domain/settings.ts'
import { hookSituation, readBriefing } from '../gate/operations/hook.ts'
import type { WorkTreeWitness } from '../git/ports/work-tree.ts'
import { errorCode, Failure } from '../kernel/failure.ts'
import { nearestWord } from '../kernel/nearest-word.ts'
import { capture } from '../sessions/capture/hook/capture-hook.ts'
import type { Store } from '../store/ports/store.ts'
import { complaint, printableJson, printError } from '../surfaces/cli/terminal.ts'
import { type HookProject, runHook } from '../surfaces/hook/hook.ts'
import { hookEvents } from '../surfaces/hook/protocol.ts'
import { type Environment, firstSetVariable } from './settings/environment.ts'
import {
  databasePlace,
  enclosingTree,
  hasServerSetting,
  mainTree,
  projectFolder,
  projectRoot,
  requestedFolder,
  serverDatabase,
} from './settings/places.ts'
import { refuseForeign } from './settings/regular-paths.ts'
import { endOnUnexpected } from './unexpected-errors.ts'

/** Answers a client's hook, `hook <event>`: JSON on standard input, the answer on standard output. */
export async function hook([, ...words]: readonly string[]): Promise<void> {
  endOnUnexpected({ rejections: true })
  const [word = '', client = '', ...rest] = words
  const event = hookEvents.find((known) => known === word)
  if (event === undefined || rest.length > 0)
    return reportUnknownHook([word, client, ...rest].join(' ').trim())
  const workingFolder = process.cwd()
  const input = async () => {
    const text = await readInput()
    // One registered line records and judges, and what it does not know to be an event it records as nothing.
    const program = process.argv[1] ?? ''
    capture(text, { word: client, environment: process.env, workingFolder, at: Date.now(), program })
    return text
  }
  const { out, complaint } = await runHook(event, { workingFolder, input, open: openHookProject })
  if (complaint !== null) printError(`${complaint.replace(/\s+/g, ' ')}\n`)
  // Written whole before the exit, which does not wait for what a locked database is still asked.
  writeToStdout(Buffer.from(printableJson(out)))
  process.exit(0)
}

async function openHookProject(folder: string): Promise<HookProject | null> {
  const environment = process.env
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  // A client starts its servers in its project's folder; the agent may have gone elsewhere since.
  const working = firstSetVariable(environment, ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR']) ?? process.cwd()
  const { top, root } = hookPlaces(environment, { folder, home, working })
  if (hasServerSetting(environment, root)) {
    const [{ connectedPlace: connectedAt }, { openRemoteHook: openMachineHook }] = await Promise.all([
      import('./remote/connected-place.ts'),
      import('./remote/hook-remote.ts'),
    ])
    const place = connectedAt({ project: root, environment, workingFolder: root })
    if (place) return openMachineHook(place, top)
  }
  const store = await openHookStore(environment, { root, working })
  if (!store) return null
  const packages: WorkTreeWitness['packages'] = async (place) => {
    const { workspacePackages } = await import('../git/recorded-state.ts')
    return workspacePackages(place)
  }
  return {
    top,
    look: (judge) =>
      store.view(async (reads) => {
        const situation = await hookSituation(reads, { top, now: Date.now(), packages })
        return judge({ situation, briefing: () => readBriefing(reads, situation) })
      }),
    isClosed: async () => {
      const settings = await store.view(({ runs }) => runs.settings())
      return settingOf(settings, 'hook_on_error') === 'closed'
    },
  }
}

/** Null where there is no record, which is known without asking anyone. */
async function openHookStore(
  environment: Environment,
  folders: { readonly root: string; readonly working: string },
): Promise<Store | null> {
  const { root } = folders
  refuseForeign(root)
  const server = serverDatabase(environment)
  const { randomIds: ids } = await import('../store/random-ids.ts')
  if (server) {
    if (!existsSync(join(root, '.waymark', 'project-id'))) return null
    const { openPostgresStore } = await import('../store/postgres/store.ts')
    return openPostgresStore({ ...server, project: requestedFolder(environment, root), ids })
  }
  const database = databasePlace(environment, folders)
  if (!existsSync(database.file)) return null
  if (database.shared) refuseForeign(root, database.file)
  const { openStore } = await import('../store/store.ts')
  return openStore({ ...database, root, sandboxJournal: false, ids })
}

// Not the exit code of other misspelt commands: 2 would forbid the agent every call.
function reportUnknownHook(word: string): void {
  const meant = nearestWord(word, hookEvents)
  const hint = meant === undefined ? `The events are ${hookEvents.join(', ')}.` : `Did you mean ${meant}?`
  printError(complaint(`There is no hook "${word}".`, hint))
  process.exitCode = 1
}

const most = 64 * 1024 * 1024
const atOnce = 64 * 1024

/**
 * Everything on standard input, unless it is a person's terminal or more than a client would ever send. Nothing else goes
 * on meanwhile, so it is read at once: a stream takes ten milliseconds to load.
 */
async function readInput(): Promise<string> {
  if (isTerminal(0))
    throw new Failure('INVALID_INPUT', 'This command is for clients, which send JSON on standard input.', {
      reason: 'standard_input_missing',
    })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOfInput()) {
    size += chunk.length
    if (size > most) {
      throw new Failure('INVALID_INPUT', `The client said more than ${most / 1024 / 1024} MB.`, {
        reason: 'hook_event_too_large',
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function* chunksOfInput(): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(atOnce)
      const read = readSync(0, buffer)
      if (read === 0) return
      yield buffer.subarray(0, read)
    }
  } catch (error) {
    // At the end Windows says so, and without an input there is nothing; only a pipe that must not be waited for is left.
    if (errorCode(error) !== 'EAGAIN') return
  }
  for await (const chunk of process.stdin) yield Buffer.from(chunk)
}

/** A pipe is none, which is known without loading what knows terminals. */
function isTerminal(file: number): boolean {
  try {
    if (!fstatSync(file).isCharacterDevice()) return false
  } catch {}
  return isatty(file)
}

/** Written at once, like the input is read. A client that went away is told nothing. */
function writeToStdout(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

export interface HookLocations {
  /** The top of the work tree that the hook acts for. */
  readonly top: string
  readonly root: string
}

/** What a hook's folder belongs to, found without git: a hook has no time to start another process. */
function hookPlaces(
  environment: Environment,
  { folder, home, working }: { readonly folder: string; readonly home: string; readonly working: string },
): HookLocations {
  const here = realpathSync.native(folder)
  const named = namedFolder(environment, working)
  // An agent that stands in no project at all still works for the one that its client opened.
  const top =
    enclosingTree(here, home) ?? recordedFolder(here, home) ?? (named ? workTreeTop(named, home) : here)
  const isChosen = named !== null && firstSetVariable(environment, ['WAYMARK_PROJECT']) !== undefined
  const root = projectRoot(mainTree(isChosen ? workTreeTop(named, home) : top))
  return { top, root }
}

function workTreeTop(folder: string, home: string): string {
  return enclosingTree(folder, home) ?? folder
}

/** The nearest folder upwards with a record of its own: a project without git. */
function recordedFolder(folder: string, home: string): string | null {
  const parent = dirname(folder)
  if (folder === home || parent === folder) return null
  return existsSync(join(folder, '.waymark', 'waymark.db')) ? folder : recordedFolder(parent, home)
}

/** The folder that the person or the client names, if there is such a folder. */
function namedFolder(environment: Environment, working: string): string | null {
  const nobody = ''
  const folder = projectFolder({ environment, workingFolder: working }, () => nobody)
  return folder !== nobody && existsSync(folder) ? realpathSync.native(folder) : null
}

import { existsSync, fstatSync, readSync, realpathSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { textAt } from '../clients/hooks/client.ts'
import { clientOf } from '../clients/hooks/hook-clients.ts'
import type { GuardCaller } from '../gate/operations/guard-git.ts'
import { errorCode, Failure } from '../kernel/failure.ts'
import type { JsonObject } from '../kernel/json.ts'
import { nearestWord } from '../kernel/nearest-word.ts'
import { capture } from '../sessions/capture/hook/capture-hook.ts'
import type { Store } from '../store/ports/store.ts'
import { complaint, printableJson, printError } from '../surfaces/cli/terminal.ts'
import { type HookHost, type HookProject, type HookQuestion, runHook } from '../surfaces/hook/gate-hook.ts'
import { askHookServer } from '../surfaces/hook/hook-socket.ts'
import { hookEvents } from '../surfaces/hook/protocol.ts'
import { localHookProject } from './local-hook-project.ts'
import { type Environment, firstSetVariable } from './settings/environment.ts'
import { hookGreeting, hookSockets } from './settings/hook-sockets.ts'
import {
  databasePlace,
  enclosingTree,
  hasServerSetting,
  mainTree,
  projectFolder,
  projectRoot,
  requestedFolder,
  serverDatabase,
} from './settings/project-location.ts'
import { refuseForeign } from './settings/regular-paths.ts'
import { endOnUnexpected } from './unexpected-errors.ts'

/** `waymark hook <event>`: reads JSON from standard input, and writes the answer to standard output. */
export async function hook([, ...words]: readonly string[]): Promise<void> {
  endOnUnexpected({ rejections: true })
  const [word = '', client = '', ...rest] = words
  const event = hookEvents.find((one) => one === word)
  if (event === undefined || rest.length > 0)
    return reportUnknownHook([word, client, ...rest].join(' ').trim())
  const workingFolder = process.cwd()
  const input = async () => {
    const text = await readInput()
    // One registered line records and checks; it ignores an unknown event.
    const program = process.argv[1] ?? ''
    capture(text, { word: client, environment: process.env, workingFolder, at: Date.now(), program })
    return text
  }
  const callerOf = (payload: JsonObject) => hookCaller(payload, { word: client, environment: process.env })
  const open = (folder: string) => openHookProject(locate(folder), callerOf)
  const ask: HookHost['ask'] = (call) => askServer(call, { ...locate(call.folder), workingFolder, callerOf })
  const { out, complaint } = await runHook(event, { workingFolder, input, ask, open })
  if (complaint !== null) printError(`${complaint.replace(/\s+/g, ' ')}\n`)
  // The answer is written before the exit, which does not wait for a locked database.
  writeToStdout(Buffer.from(printableJson(out)))
  process.exit(0)
}

/** A hook's project, found without git. */
interface HookLocation extends HookPlaces {
  /** The folder that the client opened. */
  readonly working: string
}

function locate(folder: string): HookLocation {
  const environment = process.env
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  // A client starts in its project's folder; the agent may have changed folders since.
  const working = firstSetVariable(environment, ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR']) ?? process.cwd()
  return { working, ...hookPlaces(environment, { folder, home, working }) }
}

type CallerOf = (payload: JsonObject) => GuardCaller

/** Asks a server of the project that runs on this machine, which has the record open. Null without an answer. */
async function askServer(
  { event, payload, input }: HookQuestion,
  at: HookLocation & { readonly workingFolder: string; readonly callerOf: CallerOf },
): Promise<string | null> {
  const environment = process.env
  const { top, root, workingFolder } = at
  if (hasServerSetting(environment, root) || serverDatabase(environment)) return null
  const { file: database } = databasePlace(environment, at)
  const sockets = existsSync(database) ? hookSockets(root, environment) : []
  if (sockets.length === 0) return null
  const request = { event, input, workingFolder, top, caller: at.callerOf(payload) }
  return askHookServer(sockets, hookGreeting(database, environment), request)
}

async function openHookProject(at: HookLocation, callerOf: CallerOf): Promise<HookProject | null> {
  const environment = process.env
  const { top, root, working } = at
  if (hasServerSetting(environment, root)) {
    const [{ connectedPlace: connectedAt }, { openRemoteHook: openMachineHook }] = await Promise.all([
      import('./remote/remote-project-location.ts'),
      import('./remote/hook-remote.ts'),
    ])
    const place = connectedAt({ project: root, environment, workingFolder: root })
    if (place) {
      const remote = (await openMachineHook(place, top)) ?? unknownProject(top)
      return {
        ...remote,
        guard: async (request) => {
          const { guardRemotely } = await import('./git-guard.ts')
          const caller = callerOf(request.payload)
          const attempts = await remote.look(async ({ situation }) => situation.attempts)
          return guardRemotely({ ...request, caller, environment, top, root }, attempts)
        },
      }
    }
  }
  const store = await openHookStore(environment, { root, working })
  if (!store) return null
  const openForWriting = (anchorFolder: (database: string) => string) =>
    openHookStore(environment, { root, working }, anchorFolder)
  return localHookProject({ store, openForWriting, environment, top, root, callerOf })
}

/** A project at a server that does not answer: nothing is known of it but its files. */
function unknownProject(top: string): Omit<HookProject, 'guard'> {
  const situation = { attempts: [], runs: [], settings: new Map() }
  const briefing = {
    missions: [],
    attempts: [],
    runs: [],
    remarks: new Map(),
    items: [],
    moreItems: 0,
    comments: [],
  }
  return {
    top,
    look: (judge) => judge({ situation, briefing: async () => briefing }),
    isClosed: async () => false,
  }
}

/** Null without a record, which is found without opening a database. */
async function openHookStore(
  environment: Environment,
  folders: { readonly root: string; readonly working: string },
  anchorFolder?: (database: string) => string,
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
  const anchor = anchorFolder === undefined ? {} : { anchorFolder: anchorFolder(database.file) }
  return openStore({ ...database, root, sandboxJournal: false, ids, ...anchor })
}

// Not 2, as for other wrong commands: 2 would block every call of the agent.
function reportUnknownHook(word: string): void {
  const meant = nearestWord(word, hookEvents)
  const hint = meant === undefined ? `The events are ${hookEvents.join(', ')}.` : `Did you mean ${meant}?`
  printError(complaint(`There is no hook "${word}".`, hint))
  process.exitCode = 1
}

const maxInputBytes = 64 * 1024 * 1024
const atOnce = 64 * 1024

/**
 * Reads standard input, unless it is a terminal or too large. It reads synchronously: loading a stream takes ten
 * milliseconds.
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
    if (size > maxInputBytes) {
      throw new Failure('INVALID_INPUT', `The client sent more than ${maxInputBytes / 1024 / 1024} MB.`, {
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
    // Windows reports the end or a missing input as an error; a pipe without data must not block.
    if (errorCode(error) !== 'EAGAIN') return
  }
  for await (const chunk of process.stdin) yield Buffer.from(chunk)
}

/** Whether it is a terminal, checked without loading node:tty for a pipe. */
function isTerminal(file: number): boolean {
  try {
    if (!fstatSync(file).isCharacterDevice()) return false
  } catch {}
  return isatty(file)
}

/** Writes synchronously, like the input is read. Ignores a client that is gone. */
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

interface HookPlaces {
  /** The top folder of the hook's work tree. */
  readonly top: string
  readonly root: string
}

/** The project of a hook's folder, found without git: starting a process takes a hook too long. */
function hookPlaces(
  environment: Environment,
  { folder, home, working }: { readonly folder: string; readonly home: string; readonly working: string },
): HookPlaces {
  const here = realpathSync.native(folder)
  const named = namedFolder(environment, working)
  // An agent outside any project works for the one that its client opened.
  const top =
    enclosingTree(here, home) ?? recordedFolder(here, home) ?? (named ? workTreeTop(named, home) : here)
  const isChosen = named !== null && firstSetVariable(environment, ['WAYMARK_PROJECT']) !== undefined
  const root = projectRoot(mainTree(isChosen ? workTreeTop(named, home) : top))
  return { top, root }
}

function workTreeTop(folder: string, home: string): string {
  return enclosingTree(folder, home) ?? folder
}

/** The nearest parent folder with a record: a project without git. */
function recordedFolder(folder: string, home: string): string | null {
  const parent = dirname(folder)
  if (folder === home || parent === folder) return null
  return existsSync(join(folder, '.waymark', 'waymark.db')) ? folder : recordedFolder(parent, home)
}

/** The folder that the person or the client names, if it exists. */
function namedFolder(environment: Environment, working: string): string | null {
  const nobody = ''
  const folder = projectFolder({ environment, workingFolder: working }, () => nobody)
  return folder !== nobody && existsSync(folder) ? realpathSync.native(folder) : null
}

const clientsThatAsk = ['claude', 'vscode', 'devin']

/** The caller by its client's input, and whether a person can be asked there. */
function hookCaller(
  payload: object,
  { word, environment }: { readonly word: string; readonly environment: Environment },
): GuardCaller {
  const client = clientOf(payload, { word, environment })
  const mode = textAt(payload, 'permission_mode')
  const isUnattended =
    mode === 'bypassPermissions' ||
    mode === 'dontAsk' ||
    (environment['CLAUDE_CODE_ENTRYPOINT'] ?? '').startsWith('sdk')
  return {
    client: client.name,
    session: textAt(payload, client.fields.session),
    canAsk: clientsThatAsk.includes(client.name) && !isUnattended,
  }
}

import { fstatSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { textAt } from '../../../clients/hooks/client.ts'
import { clientOf } from '../../../clients/hooks/hook-clients.ts'
import { type CapturedProject, projectAt, statOf } from '../captured-project.ts'
import { hashText } from '../hash.ts'
import { type HookQueue, logLine, queueOf, writeEvent } from '../hook-queue.ts'
import { type EditPayload, hasFields } from './edits.ts'
import { hookEventOf } from './payload-event.ts'

/** What a hook knows besides what the client tells it. */
export interface CaptureHookContext {
  /** The client on the registered line; empty where it names none. */
  readonly word: string
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly workingFolder: string
  /** When the client called it, in milliseconds since the epoch. */
  readonly at: number
  /** The program that ingests what waits, to be started where nothing does. */
  readonly program: string
}

const maxInputLength = 4 * 1024 * 1024
/** The most that is taken off a client's hands. */
const maxTakenLength = 3e8
const ingestAliveMs = 15_000
// The moments at which somebody will soon want to read what was recorded.
const pause = /^(?:session_|prompted|stopped)/

/** The process `waymark-capture`: it prints nothing, and ends with 0 whatever happens. */
export function captureFromInput(place: CaptureHookContext): void {
  try {
    const input = readInput()
    if (input !== null) capture(input.text, place, input.isWhole)
  } catch {}
}

/** Writes down what a client told its hook. Never throws: what fails is a line in the log of the queue. */
export function capture(
  text: string,
  place: CaptureHookContext,
  isWhole = text.length <= maxInputLength,
): void {
  let queue: HookQueue | null = null
  let event = ''
  try {
    const payload = isWhole ? parsePayload(text) : scrapeFields(text)
    if (payload === null) return
    const client = clientOf(payload, place)
    event = textAt(payload, client.fields.event) ?? ''
    const said = textAt(payload, client.fields.folder)
    const folder = said ?? place.workingFolder
    const project = projectOf([folder, ...foldersOf(place)], place)
    if (project === null) return
    queue = queueOf(project.root, place.environment)
    const told = hookEventOf(payload, client, project.settings)
    if (told === null) return
    // Two hooks that are told the same are told it at two times.
    const hash = hashText((isWhole ? text : text.slice(-65_536)).replace(/"timestamp":[^,}]*/, ''))
    const own = projectAt(folder, place.environment)?.root === project.root ? folder : project.root
    queue = writeEvent(queue, project, told, { at: place.at, folder: own, hash })
    if (pause.test(told.event.kind)) startIngest(queue, place)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    if (queue !== null) logLine(queue, `hook ${place.word} ${event}: ${why}`)
  }
}

function foldersOf({ environment, workingFolder }: CaptureHookContext): readonly string[] {
  const named = ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR', 'GEMINI_PROJECT_DIR'].map(
    (name) => environment[name],
  )
  return [...named, workingFolder].flatMap((folder) => folder || [])
}

/** An agent that went elsewhere still works for the project that its client opened. */
function projectOf(folders: readonly string[], { environment }: CaptureHookContext): CapturedProject | null {
  for (const folder of folders) {
    const found = folder.includes('\0') ? null : projectAt(folder, environment)
    if (found !== null) return found
  }
  return null
}

function parsePayload(text: string): EditPayload | null {
  try {
    const said: unknown = JSON.parse(text)
    return hasFields(said) ? said : null
  } catch {
    return null
  }
}

/** The short texts of a payload that is too long to be read: who, when and which file, without what the edit is. */
function scrapeFields(text: string): EditPayload {
  const found: Record<string, unknown> = {}
  const input: Record<string, unknown> = {}
  const ends = `${text.slice(0, 65_536)}\n${text.slice(-65_536)}`
  for (const [, name = '', value = ''] of ends.matchAll(
    /"([A-Za-z_]{2,40})"\s*:\s*("(?:[^"\\\n]|\\.){0,4096}")/g,
  )) {
    const target = /^(?:file_?path|notebook_path|path|target_file)$/i.test(name) ? input : found
    if (Object.hasOwn(target, name)) continue
    try {
      target[name] = JSON.parse(value)
    } catch {}
  }
  return { ...found, tool_input: input, args: input }
}

function readInput(): { readonly text: string; readonly isWhole: boolean } | null {
  const input = fstatSync(0)
  if (input.isCharacterDevice()) return null
  const head: Buffer[] = []
  const tail: Buffer[] = []
  let size = 0
  // Who never ends is no client: an agent waits for its hooks.
  while (size < maxTakenLength) {
    const chunk = Buffer.alloc(65_536)
    const read = readChunk(chunk)
    if (read === 0) break
    size += read
    if (size <= maxInputLength) head.push(chunk.subarray(0, read))
    else tail.push(chunk.subarray(0, read))
    // All of it is taken off the client's hands; its start and its end tell who and when.
    if (tail.length > 2) tail.shift()
  }
  return { text: Buffer.concat([...head, ...tail]).toString(), isWhole: size <= maxInputLength }
}

function readChunk(chunk: Buffer): number {
  for (let tries = 0; ; tries += 1) {
    try {
      return readSync(0, chunk)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN' || tries > 400) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/** Whoever ingests touches its lock; a lock that was not touched for a while is looked at by the program itself. */
function startIngest(queue: HookQueue, { program }: CaptureHookContext): void {
  const { root, folder } = queue
  const lock = statOf(join(folder, 'ingest.lock'))
  if (lock && Math.abs(Date.now() - lock.mtimeMs) < ingestAliveMs) return
  // Loaded only here: every other hook is faster without it.
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [program, 'ingest', '--project', root], {
    cwd: root,
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  })
  child.on('error', (error) => logLine(queue, `ingest: ${error.message}`))
  child.unref()
}

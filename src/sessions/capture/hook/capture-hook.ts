import { fstatSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { textAt } from '../../../clients/hooks/client.ts'
import { clientOf } from '../../../clients/hooks/hook-clients.ts'
import { type CapturedProject, projectAt, statOf } from '../captured-project.ts'
import { hashText } from '../hash.ts'
import { type HookQueue, logLine, queueOf, writeEvent } from '../hook-queue.ts'
import { type EditPayload, hasFields } from './edits.ts'
import { hookEventOf } from './payload-event.ts'

/** The context of a hook besides the client's payload. */
export interface CaptureHookContext {
  /** The client on the registered line; empty if it names none. */
  readonly word: string
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly workingFolder: string
  /** When the client called it, in milliseconds since the epoch. */
  readonly at: number
  /** The program that ingests the queue, started if no process does. */
  readonly program: string
}

const maxInputLength = 4 * 1024 * 1024
/** The most input that is read from a client. */
const maxTakenLength = 3e8
const ingestAliveMs = 15_000
// After these events somebody will soon want to read the record.
const pause = /^(?:session_|prompted|stopped)/

/** The process `waymark-capture`: it prints nothing, and ends with 0 whatever happens. */
export function captureFromInput(context: CaptureHookContext): void {
  try {
    const input = readInput()
    if (input !== null) capture(input.text, context, input.isWhole)
  } catch {}
}

/** Records a client's payload. Never throws: a failure is a line in the log of the queue. */
export function capture(
  text: string,
  context: CaptureHookContext,
  isWhole = text.length <= maxInputLength,
): void {
  let queue: HookQueue | null = null
  let event = ''
  try {
    const payload = isWhole ? parsePayload(text) : scrapeFields(text)
    if (payload === null) return
    const client = clientOf(payload, context)
    event = textAt(payload, client.fields.event) ?? ''
    const named = textAt(payload, client.fields.folder)
    const folder = named ?? context.workingFolder
    const project = projectOf([folder, ...foldersOf(context)], context)
    if (project === null) return
    queue = queueOf(project.root, context.environment)
    const draft = hookEventOf(payload, client, project.settings)
    if (draft === null) return
    // Two hooks with the same payload differ in its timestamp.
    const hash = hashText((isWhole ? text : text.slice(-65_536)).replace(/"timestamp":[^,}]*/, ''))
    const own = projectAt(folder, context.environment)?.root === project.root ? folder : project.root
    queue = writeEvent(queue, project, draft, { at: context.at, folder: own, hash })
    if (pause.test(draft.event.kind)) startIngest(queue, context)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    if (queue !== null) logLine(queue, `hook ${context.word} ${event}: ${why}`)
  }
}

function foldersOf({ environment, workingFolder }: CaptureHookContext): readonly string[] {
  const named = ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR', 'GEMINI_PROJECT_DIR'].map(
    (name) => environment[name],
  )
  return [...named, workingFolder].flatMap((folder) => folder || [])
}

/** An agent in another folder still works for the project that its client opened. */
function projectOf(folders: readonly string[], { environment }: CaptureHookContext): CapturedProject | null {
  for (const folder of folders) {
    const found = folder.includes('\0') ? null : projectAt(folder, environment)
    if (found !== null) return found
  }
  return null
}

function parsePayload(text: string): EditPayload | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return hasFields(parsed) ? parsed : null
  } catch {
    return null
  }
}

/** The short texts of a payload that is too long to parse: who, when and which file, without the edit. */
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
  // Input without end is not from a client: an agent waits for its hooks.
  while (size < maxTakenLength) {
    const chunk = Buffer.alloc(65_536)
    const read = readChunk(chunk)
    if (read === 0) break
    size += read
    if (size <= maxInputLength) head.push(chunk.subarray(0, read))
    else tail.push(chunk.subarray(0, read))
    // All input is read, so that the client can go on; its start and end are enough for who and when.
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

/** An ingesting process touches its lock. The program itself checks a lock that was not touched for a while. */
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

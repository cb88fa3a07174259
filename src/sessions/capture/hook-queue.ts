import { existsSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isToolNamed } from '../../clients/hooks/client.ts'
import { entryAt, isLinkFree, writeContained } from '../../kernel/files/contained-file.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import {
  type CapturedProject,
  type CaptureEnvironment,
  hooksBase,
  hooksFolder,
  placeInProject,
  resolvedPath,
} from './captured-project.ts'
import { hashText } from './hash.ts'
import type { QueuedEventDraft } from './hook/payload-event.ts'
import type { QueuedEdit } from './queued-event.ts'

/** The waiting events of a project: only hooks write here, and only ingest removes. */
export interface HookQueue {
  /** Of the project. */
  readonly root: string
  /** Of the user whose hooks write here; their settings are beside the queue. */
  readonly environment: CaptureEnvironment
  /** No part of a path below it may be a link. */
  readonly base: string
  /** Holds all of it: events, copies, lock and log. */
  readonly folder: string
  readonly events: string
  readonly copies: string
}

// Ingest keeps the queue within its limits; these apply if nothing ingests for days.
const maxEvents = 40_000
const maxKept = 2000
const maxCopyBytes = 1024 * 1024
const maxCopies = 20
const maxLogBytes = 256 * 1024
const maxEventBytes = 4 * 1024 * 1024

/** The queue that hooks of a project write, in the user's state folder. */
export function queueOf(root: string, environment: CaptureEnvironment): HookQueue {
  return queueIn(root, environment, hooksBase(environment), hooksFolder(root, environment))
}

/** The queue in the project, for a sandbox that forbids the state folder. */
function projectQueue(root: string, environment: CaptureEnvironment): HookQueue {
  return queueIn(root, environment, root, join(root, '.waymark/state/hooks'))
}

/** The queues that may hold events. */
export function queuesOf(root: string, environment: CaptureEnvironment): readonly HookQueue[] {
  const real = resolvedPath(root)
  return [queueOf(real, environment), projectQueue(real, environment)].filter(isQueueUsable)
}

/** Whether a hook ever wrote an event of a project. */
export function hasQueue(root: string, environment: CaptureEnvironment): boolean {
  return queuesOf(root, environment).length > 0
}

function queueIn(root: string, environment: CaptureEnvironment, base: string, folder: string): HookQueue {
  return { root, environment, base, folder, events: join(folder, 'queue'), copies: join(folder, 'copies') }
}

/** A folder behind a link in the repository is no queue. */
function isQueueUsable({ base, events, copies }: HookQueue): boolean {
  return existsSync(events) && isLinkFree(base, events) && isLinkFree(base, copies)
}

let written = 0

/** Where and when a hook was called, and the hash of its payload. */
export interface QueueOrigin {
  readonly at: number
  readonly folder: string
  readonly hash: string
}

/** Writes one event file, with copies of the files that it names. Returns the queue that it is in. */
export function writeEvent(
  queue: HookQueue,
  project: CapturedProject,
  draft: QueuedEventDraft,
  origin: QueueOrigin,
): HookQueue {
  try {
    writeTo(queue, project, draft, origin)
    return queue
  } catch (error) {
    // The system's code ends the message.
    if (!/E(?:ACCES|PERM|ROFS)$/.test(String(error))) throw error
    const other = projectQueue(queue.root, queue.environment)
    // Git is to ignore what lies in the project.
    writeOwn(queue.root, join(other.folder, '.gitignore'), '*\n')
    writeTo(other, project, draft, origin)
    return other
  }
}

function writeTo(
  queue: HookQueue,
  project: CapturedProject,
  draft: QueuedEventDraft,
  origin: QueueOrigin,
): void {
  if (queueFileNames(queue.events).length > maxEvents) throw new Error('the hook queue is full')
  const key = nextKey(origin.at)
  const event = {
    ...draft.event,
    folder: origin.folder,
    hash: origin.hash,
    edits: copyEditedFiles(queue, project, draft, { ...origin, key }),
  }
  const text = JSON.stringify(event)
  const small =
    text.length <= maxEventBytes
      ? text
      : JSON.stringify({ ...event, edits: event.edits.map(withoutContents) })
  writeOwn(queue.base, join(queue.events, `${key}.json`), small)
}

/** Writes a file of Waymark's own below a base folder, whole or not at all, following no link. */
export function writeOwn(base: string, file: string, content: string | Buffer): void {
  const done = writeContained(base, file, content)
  if ('reason' in done) throw new Error(`${file}: ${done.reason} ${done.detail ?? ''}`)
}

function withoutContents(edit: QueuedEdit): QueuedEdit {
  return { ...edit, does: null }
}

export function nextKey(at: number): string {
  written += 1
  return `${at}-${process.pid}-${String(written).padStart(4, '0')}`
}

function copyEditedFiles(
  queue: HookQueue,
  project: CapturedProject,
  { event, edits }: QueuedEventDraft,
  { key, folder, hash }: QueueOrigin & { readonly key: string },
): readonly QueuedEdit[] {
  const isAfter = event.kind === 'edit_ended'
  const call = event.call ?? event.pair ?? hash
  return edits.flatMap(({ path, does }, index): QueuedEdit[] => {
    const place = placeInProject(path, folder, queue)
    // Kept so that ingest can count it; nothing outside is read.
    if (place === null) return [{ path: '', copy: null, absent: false, does: null }]
    const entry = entryAt(place)
    const absent = entry === undefined
    const isKept = !absent && index < maxCopies && !isSecret(place, project)
    const content = isKept ? contentOf(place) : null
    const name = `${key}.${index}.${isAfter ? 'after' : 'before'}-${hashText(`${call} ${place}`)}`
    const copy = content && writeCopy(queue, event.session, { name, content })
    const time = entry !== undefined && !isAfter ? { modifiedAt: entry.mtimeMs } : {}
    return [{ path: place, copy, absent, ...time, does: isAfter && isKept ? does : null }]
  })
}

/** The name of the copy below the folder of copies; null where a session has too many. */
function writeCopy(
  queue: HookQueue,
  session: string,
  { name, content }: { readonly name: string; readonly content: Buffer },
): string | null {
  const own = sessionFolder(session)
  const folder = join(queue.copies, own)
  if (queueFileNames(folder).length > maxKept) return null
  writeOwn(queue.base, join(folder, name), content)
  return `${own}/${name}`
}

/** The folder of a session's copies. */
export function sessionFolder(session: string): string {
  return /^[\w-]{1,64}$/.test(session) ? session : hashText(session)
}

/** Whether a file may hold secrets, by its name or because a person listed it: in any work tree. */
function isSecret(path: string, { root, settings }: CapturedProject): boolean {
  const parts = relative(root, path).split(sep)
  if (isSecretFile(parts.join('/'))) return true
  return parts.some((_, at) => isToolNamed(parts.slice(at).join('/'), settings.secret))
}

/** A text of at most 1 MB; null for everything else. */
function contentOf(path: string): Buffer | null {
  const content = readOwn(path, maxCopyBytes)
  return content === null || content.subarray(0, 8192).includes(0) ? null : content
}

/** Logs one line about a failure. Never fails itself. */
export function logLine(queue: HookQueue, line: string): void {
  try {
    const file = logFile(queue)
    const before =
      readOwn(file, 2 * maxLogBytes)
        ?.subarray(-maxLogBytes)
        .toString() ?? ''
    const flat = line.replace(/\p{Cc}+/gu, ' ').slice(0, 400)
    writeOwn(queue.base, file, `${before}${new Date().toISOString()} ${flat}\n`)
  } catch {}
}

/** Logs a line that is no failure. */
export function logNote(queue: HookQueue, line: string): void {
  logLine(queue, `${note} ${line}`)
}

/** Whether a line of the log, after its time, is a note. */
export function isNote(line: string): boolean {
  return line.split(' ', 2)[1] === note
}

const note = 'note'

export function logFile({ folder }: Pick<HookQueue, 'folder'>): string {
  return join(folder, 'capture.log')
}

export function queueFileNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

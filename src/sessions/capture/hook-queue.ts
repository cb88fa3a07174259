import { existsSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isNamed } from '../../clients/hooks/client.ts'
import { entryAt, isLinkFree, writeContained } from '../../kernel/files/contained-file.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import {
  type CapturedProject,
  type CaptureEnvironment,
  hooksBase,
  hooksFolder,
  placeOf,
  realPath,
} from './captured-project.ts'
import { hashText } from './hash.ts'
import type { QueuedEventDraft } from './hook/payload-event.ts'
import type { QueuedEdit } from './queued-event.ts'

/** Where events of a project wait: only hooks write here, and only who ingests them removes. */
export interface HookQueue {
  /** Of the project. */
  readonly root: string
  /** Of the user whose hooks write here: what they chose is kept beside it. */
  readonly environment: CaptureEnvironment
  /** No part of a path below it may be a link. */
  readonly base: string
  /** Holds all of it: events, copies, lock and log. */
  readonly folder: string
  readonly events: string
  readonly copies: string
}

// Whoever ingests keeps the queue within its limits; these hold where nothing does for days.
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

/** The one in the project, where a sandbox forbids that. */
function projectQueue(root: string, environment: CaptureEnvironment): HookQueue {
  return queueIn(root, environment, root, join(root, '.waymark/state/hooks'))
}

/** The queues that something may wait in. */
export function queuesOf(root: string, environment: CaptureEnvironment): readonly HookQueue[] {
  const real = realPath(root)
  return [queueOf(real, environment), projectQueue(real, environment)].filter(isQueueUsable)
}

/** Whether a hook ever wrote an event of a project. */
export function hasQueue(root: string, environment: CaptureEnvironment): boolean {
  return queuesOf(root, environment).length > 0
}

function queueIn(root: string, environment: CaptureEnvironment, base: string, folder: string): HookQueue {
  return { root, environment, base, folder, events: join(folder, 'queue'), copies: join(folder, 'copies') }
}

/** What a repository brought along behind a link is no queue. */
function isQueueUsable({ base, events, copies }: HookQueue): boolean {
  return existsSync(events) && isLinkFree(base, events) && isLinkFree(base, copies)
}

let written = 0

/** Where and when a hook was called, and the sign of what it was told. */
export interface QueueOrigin {
  readonly at: number
  readonly folder: string
  readonly hash: string
}

/** Writes one event file, with copies of the files that it names. Answers the queue that it is in. */
export function writeEvent(
  queue: HookQueue,
  project: CapturedProject,
  told: QueuedEventDraft,
  from: QueueOrigin,
): HookQueue {
  try {
    writeTo(queue, project, told, from)
    return queue
  } catch (error) {
    // The system's code ends the message.
    if (!/E(?:ACCES|PERM|ROFS)$/.test(String(error))) throw error
    const other = projectQueue(queue.root, queue.environment)
    // Git is to ignore what lies in the project.
    writeOwn(queue.root, join(other.folder, '.gitignore'), '*\n')
    writeTo(other, project, told, from)
    return other
  }
}

function writeTo(
  queue: HookQueue,
  project: CapturedProject,
  told: QueuedEventDraft,
  from: QueueOrigin,
): void {
  if (queueFileNames(queue.events).length > maxEvents) throw new Error('the hook queue is full')
  const key = nextKey(from.at)
  const event = {
    ...told.event,
    folder: from.folder,
    hash: from.hash,
    edits: copyEditedFiles(queue, project, told, { ...from, key }),
  }
  const text = JSON.stringify(event)
  const small =
    text.length <= maxEventBytes
      ? text
      : JSON.stringify({ ...event, edits: event.edits.map(withoutContents) })
  writeOwn(queue.base, join(queue.events, `${key}.json`), small)
}

/** Writes a file of Waymark's own below a base folder, whole or not at all; no link on its way is followed. */
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
  return edits.flatMap(({ path, does }, at): QueuedEdit[] => {
    const place = placeOf(path, folder, queue)
    // Kept so that whoever ingests it can count it; nothing is looked at out there.
    if (place === null) return [{ path: '', copy: null, absent: false, does: null }]
    const absent = entryAt(place) === undefined
    const isKept = !absent && at < maxCopies && !isSecret(place, project)
    const content = isKept ? contentOf(place) : null
    const name = `${key}.${at}.${isAfter ? 'after' : 'before'}-${hashText(`${call} ${place}`)}`
    const copy = content && writeCopy(queue, event.session, { name, content })
    return [{ path: place, copy, absent, does: isAfter && isKept ? does : null }]
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
  return parts.some((_, at) => isNamed(parts.slice(at).join('/'), settings.secret))
}

/** A text of at most 1 MB; null for everything else. */
function contentOf(path: string): Buffer | null {
  const content = readOwn(path, maxCopyBytes)
  return content === null || content.subarray(0, 8192).includes(0) ? null : content
}

/** One line for whoever looks for the reason of a failure. Never fails itself. */
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

/** A line about what was done on purpose: no failure. */
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

import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isSecretFile } from '../domain/secret-files.ts'
import { entryAt } from '../files/contained.ts'
import { isNamed } from './clients/client.ts'
import type { SpooledEdit } from './event.ts'
import { hashed, type Told } from './hook/told.ts'
import { type CapturedProject, placeOf } from './place.ts'

/** Where events wait: only hooks write here, and only who drains removes. */
export interface Spool {
  readonly folder: string
  readonly copies: string
}

// Whoever drains keeps the spool within its limits; these hold where nothing drains for days.
const mostEvents = 40_000
const mostKept = 2000
const longestCopy = 1024 * 1024
const mostCopies = 20
const longestLog = 256 * 1024
const longestEvent = 4 * 1024 * 1024

export function spoolOf(root: string): Spool {
  const folder = join(root, '.waymark', 'spool')
  return { folder, copies: join(folder, 'copies') }
}

let written = 0

/** Where and when a hook was called, and the sign of what it was told. */
export interface Origin {
  readonly at: number
  readonly folder: string
  readonly hash: string
}

/** Writes one event file, with copies of the files that it names. */
export function writeEvent(project: CapturedProject, told: Told, from: Origin): void {
  const spool = spoolOf(project.root)
  makeFolder(spool.folder)
  if (namesIn(spool.folder).length > mostEvents) throw new Error('the spool is full')
  const key = nextKey(from.at)
  const event = {
    ...told.event,
    folder: from.folder,
    hash: from.hash,
    edits: copied(project, told, { ...from, key }),
  }
  const text = JSON.stringify(event)
  const small =
    text.length <= longestEvent ? text : JSON.stringify({ ...event, edits: event.edits.map(bare) })
  writeWhole(spool.folder, `${key}.json`, small)
}

function bare(edit: SpooledEdit): SpooledEdit {
  return { ...edit, does: null }
}

export function nextKey(at: number): string {
  written += 1
  return `${at}-${process.pid}-${String(written).padStart(4, '0')}`
}

function copied(
  project: CapturedProject,
  { event, edits }: Told,
  { key, folder, hash }: Origin & { readonly key: string },
): readonly SpooledEdit[] {
  const isAfter = event.kind === 'edit_ended'
  const call = event.call ?? event.pair ?? hash
  return edits.flatMap(({ path, does }, at): SpooledEdit[] => {
    const place = placeOf(path, folder, project.root)
    // Kept so that whoever drains can count it; nothing is looked at out there.
    if (place === null) return [{ path: '', copy: null, absent: false, does: null }]
    const absent = entryAt(place) === undefined
    const isKept = !absent && at < mostCopies && !isSecret(place, project)
    const content = isKept ? contentOf(place) : null
    const name = `${key}.${at}.${isAfter ? 'after' : 'before'}-${hashed(`${call} ${place}`)}`
    const copy = content && writeCopy(project, event.session, { name, content })
    return [{ path: place, copy, absent, does: isAfter && isKept ? does : null }]
  })
}

/** The name of the copy below the folder of copies; null where a session has too many. */
function writeCopy(
  { root }: CapturedProject,
  session: string,
  { name, content }: { readonly name: string; readonly content: Buffer },
): string | null {
  const own = sessionFolder(session)
  const folder = join(spoolOf(root).copies, own)
  makeFolder(folder)
  if (namesIn(folder).length > mostKept) return null
  writeWhole(folder, name, content)
  return `${own}/${name}`
}

/** The folder of a session's copies. */
export function sessionFolder(session: string): string {
  return /^[\w-]{1,64}$/.test(session) ? session : hashed(session)
}

/** Whether a file may hold secrets, by its name or because a person listed it: in any work tree. */
function isSecret(path: string, { root, settings }: CapturedProject): boolean {
  const parts = relative(root, path).split(sep)
  if (isSecretFile(parts.join('/'))) return true
  return parts.some((_, at) => isNamed(parts.slice(at).join('/'), settings.secret))
}

/** A text of at most 1 MB; null for everything else. */
function contentOf(path: string): Buffer | null {
  let file: number | null = null
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
    const found = fstatSync(file)
    if (!found.isFile() || found.size > longestCopy) return null
    const buffer = Buffer.allocUnsafe(longestCopy + 1)
    let read = 0
    for (let got = 1; got > 0 && read < buffer.length; read += got) {
      got = readSync(file, buffer, read, buffer.length - read, null)
    }
    const content = buffer.subarray(0, read)
    return read > longestCopy || content.subarray(0, 8192).includes(0) ? null : content
  } catch {
    return null
  } finally {
    if (file !== null) closeSync(file)
  }
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A link would lead what is written out of the project.
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
}

export function writeWhole(folder: string, name: string, content: string | Buffer): void {
  const temporary = join(folder, `.${name}.tmp`)
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, join(folder, name))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** One line for whoever looks for the reason of a failure. Never fails itself. */
export function logLine(root: string, line: string): void {
  try {
    const file = join(root, '.waymark', 'capture.log')
    const found = entryAt(file)
    if (found && !found.isFile()) return
    if (found && found.size > longestLog) renameSync(file, `${file}.1`)
    const flat = line.replace(/\p{Cc}+/gu, ' ').slice(0, 400)
    appendFileSync(file, `${new Date().toISOString()} ${flat}\n`, { mode: 0o600 })
  } catch {}
}

export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

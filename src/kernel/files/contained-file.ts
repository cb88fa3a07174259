import {
  constants,
  lstatSync,
  promises,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { Failure } from '../failure.ts'
import { isSecretFile } from '../secret-files.ts'
import { excerpt } from '../text.ts'
import { closeFolder, makeFolderIn, type OpenFolder, openFolder, removeIn } from './open-folder.ts'
import { specialKind } from './regular-file.ts'

/** Why a path is refused. */
export interface PathRefusal {
  readonly reason: RefusalReason
  /** The kind of file, the size, or the system's error code. */
  readonly detail?: string | undefined
}

export type RefusalReason =
  | 'empty'
  | 'invalid'
  | 'outside'
  | 'git'
  | 'secret'
  | 'link'
  | 'behind_link'
  | 'below_file'
  | 'repository'
  | 'missing'
  | 'folder'
  | 'special'
  | 'too_large'
  | 'unreadable'
  | 'changed'

/** A path inside its base folder. */
export interface ContainedPath {
  /** From the base, with `/`, without links, `.` and `..`: one spelling for each file. */
  readonly path: string
  /** The real path. */
  readonly absolute: string
}

export interface PathRules {
  /** Files that are secret by their name are allowed: only for callers that look at no content. */
  readonly secrets?: 'allowed'
  /** Nothing needs to be at the path yet. */
  readonly missing?: 'allowed'
  /** `.git` is allowed: only for callers that look at no content. */
  readonly git?: 'allowed'
}

/** Whether a path is the folder or below it, by their names alone: both absolute. */
export function isWithin(folder: string, path: string): boolean {
  return pathSegmentsBelow(folder, path) !== null
}

/**
 * Resolves an untrusted path with its links, if it is inside the base folder. It may be absolute or relative to the base;
 * a relative path with `..` must not leave the base at any point.
 */
export function containedPath(
  base: string,
  path: string,
  rules: PathRules = {},
): ContainedPath | PathRefusal {
  if (path === '') return refusal('empty')
  if (path.includes('\0')) return refusal('invalid')
  const reach = rules.missing === 'allowed' ? reachedPath : realPath
  const top = reach(base)
  if (typeof top !== 'string') return refusal('missing')
  const target = resolve(top, path)
  const segments = pathSegmentsBelow(top, target)
  // An absolute path may spell the base differently, through a link above it.
  if (!isAbsolute(path) && segments === null) return refusal('outside')
  const reached = reach(target)
  if (typeof reached !== 'string')
    return segments === null || isOutside(top, dirname(target)) ? refusal('outside') : reached
  const names = pathSegmentsBelow(top, reached)
  if (names === null) return refusal('outside')
  const inside = names.join('/')
  if (rules.git !== 'allowed' && [...names, ...(segments ?? [])].some(isGitName)) return refusal('git')
  if (rules.secrets !== 'allowed' && (isSecretFile(inside) || isSecretFile((segments ?? []).join('/'))))
    return refusal('secret')
  return { path: inside, absolute: reached }
}

/** Whether a folder is outside, even if it does not exist: whether files outside exist is not revealed. */
function isOutside(top: string, folder: string): boolean {
  const reached = reachedPath(folder)
  return typeof reached === 'string' && pathSegmentsBelow(top, reached) === null
}

/** Resolves a path whose last parts need not exist yet. Refuses a broken link. */
export function reachedPath(path: string): string | PathRefusal {
  const missing: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    const real = realPath(existing)
    if (typeof real === 'string') return join(real, ...missing)
    if (real.reason !== 'missing' || dirname(existing) === existing) return real
    if (entryAt(existing)?.isSymbolicLink()) return refusal('link')
    missing.unshift(basename(existing))
  }
}

export interface OpenedFile extends ContainedPath {
  readonly file: FileHandle
  readonly size: number
}

/**
 * Opens a regular file inside the base folder for reading. No link is followed between the check and the opening, and
 * a pipe or a device is never waited for.
 */
export async function openContainedFile(
  base: string,
  path: string,
  { maxBytes, ...rules }: PathRules & { readonly maxBytes: number },
): Promise<OpenedFile | PathRefusal> {
  const place = containedPath(base, path, rules)
  if ('reason' in place) return place
  let file: FileHandle | null = null
  try {
    const stats = await promises.lstat(place.absolute)
    const unfit = fileRefusal(stats, maxBytes)
    if (unfit !== null) return unfit
    file = await promises.open(place.absolute, constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const opened = await file.stat()
    if (!isSame(opened, stats) || realPath(place.absolute) !== place.absolute)
      return await closeAsChanged(file)
    return { ...place, file, size: opened.size }
  } catch (error) {
    await file?.close()
    return codeRefusal(error)
  }
}

/** The content of a regular file inside the base folder. */
export async function readContained(
  base: string,
  path: string,
  rules: PathRules & { readonly maxBytes: number },
): Promise<(ContainedPath & { readonly content: Buffer }) | PathRefusal> {
  const opened = await openContainedFile(base, path, rules)
  if ('reason' in opened) return opened
  const { file, size, ...place } = opened
  try {
    const content = Buffer.allocUnsafe(size + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < content.length; length += read) {
      read = (await file.read(content, length, content.length - length, length)).bytesRead
    }
    return length > size ? refusal('changed') : { ...place, content: content.subarray(0, length) }
  } catch (error) {
    return codeRefusal(error)
  } finally {
    await file.close()
  }
}

/** Writes a file inside the base atomically, with its folders. Replaces an existing file, also a link. */
export function writeContained(
  base: string,
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): ContainedPath | PathRefusal {
  return actInside(base, path, makeFolderIn, (folder, name, place) => {
    const draft = `${folder.path}/.${name}.${process.pid}.tmp`
    try {
      rmSync(draft, { force: true })
      // `wx` never follows a link at the name itself.
      writeFileSync(draft, content, { flag: 'wx', mode })
      // A folder of the path may have become a link meanwhile.
      if (realPath(folder.path) !== dirname(place.absolute)) throw new Error()
      renameSync(draft, `${folder.path}/${name}`)
      return undefined
    } finally {
      rmSync(draft, { force: true })
    }
  })
}

/** Removes a path inside the base with all its content; of a link only the link, never its target. */
export function removeContained(base: string, path: string): ContainedPath | PathRefusal {
  const open = (folder: OpenFolder, name: string) => openFolder(`${folder.path}/${name}`)
  const removed = actInside(base, path, open, (folder, name) => {
    removeIn(folder, name)
    return undefined
  })
  // If a folder of the path is missing, there is nothing to remove.
  return 'reason' in removed && removed.detail === 'ENOENT' ? linkFree(base, path) : removed
}

/** Opens the folders of a path one by one from the base, so that no link created meanwhile is followed. */
export function actInside(
  base: string,
  path: string,
  open: (folder: OpenFolder, name: string) => OpenFolder,
  act: (folder: OpenFolder, name: string, place: ContainedPath) => PathRefusal | undefined,
): ContainedPath | PathRefusal {
  const place = linkFree(base, path)
  if ('reason' in place) return place
  const names = place.path.split('/')
  const last = names.pop() ?? ''
  let folder: OpenFolder | null = null
  try {
    folder = openFolder(place.absolute.slice(0, -place.path.length))
    for (const name of names) {
      const inside = open(folder, name)
      closeFolder(folder)
      folder = inside
    }
    return act(folder, last, place) ?? place
  } catch (error) {
    return error instanceof RefusedFolder ? refusal(error.reason) : codeRefusal(error)
  } finally {
    if (folder) closeFolder(folder)
  }
}

/** A folder that may not be entered. */
export class RefusedFolder extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(reason)
    this.reason = reason
  }
}

/** A place by its own names: no folder above it is a link, except above the base. The path itself may be one. */
export function linkFree(base: string, path: string): ContainedPath | PathRefusal {
  if (path.includes('\0')) return refusal('invalid')
  const top = realPath(base)
  if (typeof top !== 'string') return top
  const absolute = resolve(top, path)
  const names = pathSegmentsBelow(top, absolute)
  if (names === null) return refusal('outside')
  if (names.length === 0) return refusal('empty')
  if (names.some(isGitName)) return refusal('git')
  for (let folderPath = dirname(absolute); folderPath.length > top.length; folderPath = dirname(folderPath)) {
    if (entryAt(folderPath)?.isSymbolicLink()) return refusal('behind_link')
  }
  return { path: names.join('/'), absolute }
}

/** Whether no part of a path below the base is a link, the path itself included. */
export function isLinkFree(base: string, path: string): boolean {
  const place = linkFree(base, path)
  return !('reason' in place || entryAt(place.absolute)?.isSymbolicLink())
}

/** The names from a folder to a path in it. Null outside. */
export function pathSegmentsBelow(folder: string, path: string): readonly string[] | null {
  const relativePath = relative(folder, path)
  const names = relativePath.split(sep).filter(Boolean)
  return names[0] === '..' || isAbsolute(relativePath) ? null : names
}

/** Git's own folder, also as Windows and macOS spell it. */
function isGitName(name: string): boolean {
  return /^(\.git|git~\d)[. ]*(:.*)?$/i.test(name.replace(ignoredByMac, ''))
}

/** Characters that file names on macOS do not count. */
const ignoredByMac = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** The real path in the spelling of the disk, if the system ignores case. */
export function realPath(path: string): string | PathRefusal {
  try {
    return realpathSync.native(path)
  } catch (error) {
    return codeRefusal(error)
  }
}

/** The entry at a path; for a link, the link itself. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

export function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev
}

async function closeAsChanged(file: FileHandle): Promise<PathRefusal> {
  await file.close()
  return refusal('changed')
}

export function fileRefusal(stats: Stats, maxBytes: number): PathRefusal | null {
  if (stats.isDirectory()) return refusal('folder')
  if (!stats.isFile()) return refusal('special', specialKind(stats) ?? undefined)
  return stats.size > maxBytes
    ? refusal('too_large', `${stats.size} bytes, and at most ${maxBytes} are read`)
    : null
}

const reasons: Readonly<Record<string, RefusalReason>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ELOOP: 'link',
}

function codeRefusal(error: unknown): PathRefusal {
  const { code = String(error) } = error as NodeJS.ErrnoException
  return refusal(reasons[code] ?? 'unreadable', code)
}

function refusal(reason: RefusalReason, detail?: string): PathRefusal {
  return { reason, detail }
}

/** The failure for a path that a caller named. */
export function pathFailure(path: string, refused: PathRefusal): Failure {
  const shownPath = excerpt(path, 200)
  if (refused.reason === 'missing') {
    return new Failure('NOT_FOUND', `There is no file ${shownPath}.`, {
      reason: 'file_not_found',
      hint: "Waymark looked for it in the project's folder.",
    })
  }
  return new Failure('FORBIDDEN', `${shownPath} ${problemWith(refused)}.`, {
    hint: 'Copy the file into the project, or ask a person to name it in a terminal.',
    reason: refusalReasons[refused.reason],
    details: { reason: refused.reason },
  })
}

const refusalReasons: Readonly<Record<RefusalReason, string>> = {
  empty: 'path_missing',
  invalid: 'path_invalid',
  outside: 'path_outside_project',
  git: 'path_of_git',
  secret: 'secret_file',
  link: 'link_broken',
  behind_link: 'path_behind_link',
  below_file: 'path_below_file',
  repository: 'path_in_other_repository',
  missing: 'file_not_found',
  folder: 'not_a_file',
  special: 'not_a_file',
  too_large: 'file_too_large',
  unreadable: 'file_unreadable',
  changed: 'file_changed',
}

/** Words that follow the path in a sentence. */
export function problemWith({ reason, detail }: PathRefusal): string {
  if (reason === 'special') return `is ${detail ?? 'no regular file'}, not a file`
  if (reason === 'too_large') return `is too large: ${detail}`
  if (reason === 'unreadable' && detail !== 'EACCES' && detail !== 'EPERM')
    return `cannot be read (${detail})`
  return problems[reason]
}

const problems: Readonly<Record<Exclude<RefusalReason, 'special' | 'too_large'>, string>> = {
  empty: 'is empty: a path is needed',
  invalid: 'holds a NUL byte',
  outside: "leads out of the project's folder",
  git: 'belongs to git',
  secret: 'has the name of a secret file, whose content is never read',
  link: 'is a link that is circular or broken',
  behind_link: 'is behind a link',
  below_file: 'needs a folder where a file is',
  repository: 'belongs to another repository inside this one',
  missing: 'does not exist',
  folder: 'is a folder, not a file',
  unreadable: 'may not be read',
  changed: 'changed while it was read: try again once it is written',
}

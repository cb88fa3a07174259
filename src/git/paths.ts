import { relative } from 'node:path'
import { isWithin } from '../kernel/files/contained-file.ts'

/**
 * A path as git gives it: bytes, one character per byte (latin1), relative, with `/`.
 * Paths need not be UTF-8, so everything inside the witness compares and passes on bytes.
 */
export type PathBytes = string

const asciiOnly = /^[\0-\x7f]*$/

export function isAsciiPath(path: PathBytes): boolean {
  return asciiOnly.test(path)
}

/** The path for people and JSON. Bytes that are not UTF-8 become U+FFFD. */
export function displayPath(path: PathBytes): string {
  return asciiOnly.test(path) ? path : Buffer.from(path, 'latin1').toString('utf8')
}

/** The bytes of a path from outside, such as a folder's name or a caller's argument. */
export function pathBytes(path: string): PathBytes {
  return asciiOnly.test(path) ? path : Buffer.from(path, 'utf8').toString('latin1')
}

/** The path for `node:fs` of a path below `top`. */
export function diskPath(top: string, path: PathBytes): string | Buffer {
  const separator = top.endsWith('/') ? '' : '/'
  if (asciiOnly.test(path)) return `${top}${separator}${path}`
  return Buffer.concat([Buffer.from(`${top}${separator}`, 'utf8'), Buffer.from(path, 'latin1')])
}

/** The records of a `-z` output. */
export function nulRecords(output: Buffer): string[] {
  if (output.length === 0) return []
  const records = output.toString('latin1').split('\0')
  if (records.at(-1) === '') records.pop()
  return records
}

/** The records of a `-z` output that are no paths of files in git, such as settings. */
export function nulTexts(output: Buffer): string[] {
  return nulRecords(output).map(displayPath)
}

/** The input of a `-z --stdin` command. */
export function nulInput(records: readonly string[]): Buffer {
  return Buffer.from(records.map((record) => `${record}\0`).join(''), 'latin1')
}

/** C-style quoting, as `fast-import` and `hash-object --stdin-paths` read it. */
export function quotePath(path: PathBytes): string {
  // Everything except printable ASCII, plus the quote and the backslash.
  const escaped = path.replace(/[^ !#-[\]-~]/g, (character) => {
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
  return `"${escaped}"`
}

const ownFolder = '.waymark/'
const watched = '.waymark/processes/'

/** Waymark's own folders, from the work tree's top, which no snapshot contains. */
export function excludedFolders(top: string, prefix: string, stateFolder: string): PathBytes[] {
  const folders = new Set([ownFolder, `${pathBytes(prefix)}${ownFolder}`])
  const state = relative(top, stateFolder)
  if (state !== '' && isWithin(top, stateFolder)) folders.add(`${pathBytes(state)}/`)
  return [...folders]
}

/** Whether a path belongs to the snapshot. Process definitions do, although they are in Waymark's folder. */
export function isIncluded(path: PathBytes, excluded: readonly PathBytes[]): boolean {
  return !excluded.some((folder) => {
    if (!path.startsWith(folder)) return false
    return !(folder.endsWith(ownFolder) && path.startsWith(`${folder.slice(0, -ownFolder.length)}${watched}`))
  })
}

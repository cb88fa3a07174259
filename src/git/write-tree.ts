import type { PathRefusal } from '../kernel/files/contained-file.ts'
import {
  type ContainedEntry,
  entryWithin,
  type PresentEntry,
  removeEmptyFolders,
  replaceWithin,
} from '../kernel/files/replaced-file.ts'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'

/** A file to write into a work tree. */
export interface FileWrite {
  /** From the work tree's top, with `/`. */
  readonly path: string
  /** The new file or link; null removes it. */
  readonly entry: ContainedEntry | null
  /** The hash of what is there now, as `readPresent` answered it; null for nothing. */
  readonly expected: string | null
}

export interface RefusedWrite {
  readonly path: string
  readonly refusal: PathRefusal
}

/** What was written. If anything was refused beforehand, nothing was. */
export interface WrittenFiles {
  readonly written: readonly string[]
  readonly refused: readonly RefusedWrite[]
  /** Files after one that could not be written: they were not tried. */
  readonly left: readonly string[]
}

/** Files over this size are only hashed. In bytes. */
const maxReadBytes = 16 * 1024 * 1024

/** What is at a path of a work tree now: a file, a link, or null for nothing. No link is followed. */
export function readPresent(
  top: string,
  path: string,
  maxBytes = maxReadBytes,
): PresentEntry | null | PathRefusal {
  return entryWithin(top, path, { maxBytes })
}

/**
 * Writes files into a work tree, each atomically, and removes others. Never git's own folder, a repository inside it, or
 * anything behind a link. All are checked first: if one is refused, or is no longer what was expected, nothing is written.
 */
export async function writeFiles(top: string, writes: readonly FileWrite[]): Promise<WrittenFiles> {
  // What is removed first may be in the way of what is written.
  const ordered = [...writes].sort((a, b) => Number(a.entry !== null) - Number(b.entry !== null))
  const refused: RefusedWrite[] = []
  for (const write of ordered) {
    const refusal = refusalOf(top, write, ordered)
    if (refusal !== null) refused.push({ path: write.path, refusal })
    await yieldToEventLoop()
  }
  if (refused.length > 0) return { written: [], refused, left: ordered.map(({ path }) => path) }
  const removed = new Map(
    writes.flatMap((write) => (write.entry === null ? [[write.path.toLowerCase(), write] as const] : [])),
  )
  const written: string[] = []
  for (const write of ordered) {
    let done = replaceWithin(top, write.path, write)
    // On a disk that ignores case, a name that was removed may have been the same file.
    const alias = write.entry === null ? undefined : removed.get(write.path.toLowerCase())
    if ('reason' in done && done.reason === 'changed' && alias?.expected === write.expected) {
      done = replaceWithin(top, write.path, { ...write, expected: null })
    }
    if ('reason' in done) {
      const left = ordered.slice(written.length + 1).map(({ path }) => path)
      return { written, refused: [{ path: write.path, refusal: done }], left }
    }
    written.push(write.path)
    if (write.entry === null) removeEmptyFolders(top, folderOf(write.path))
    await yieldToEventLoop()
  }
  return { written, refused: [], left: [] }
}

function refusalOf(
  top: string,
  { path, expected }: FileWrite,
  writes: readonly FileWrite[],
): PathRefusal | null {
  const present = readPresent(top, path, 0)
  if (present === null) return expected === null ? null : { reason: 'changed' }
  if ('hash' in present) return present.hash === expected ? null : { reason: 'changed' }
  const isInWay = present.reason === 'below_file' && writes.some((other) => isRemovedAbove(other, path))
  return isInWay && expected === null ? null : present
}

function isRemovedAbove(other: FileWrite, path: string): boolean {
  return other.entry === null && path.startsWith(`${other.path}/`)
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

import type { Stats } from 'node:fs'
import type { PathBytes } from '../path-bytes.ts'

/** As git writes modes, and a word for what git does not know. `unreadable` could not even be looked at. */
export type EntryMode = '100644' | '100755' | '120000' | 'pipe' | 'socket' | 'device' | 'unreadable'

/** The state of one path. */
export interface Entry {
  readonly path: PathBytes
  readonly mode: EntryMode
  /** Sha-256 of the content, in hexadecimal; null where nothing was read, and then the rest stands for it. */
  readonly hash: string | null
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
  /** When content or metadata last changed; a program cannot set it back. */
  readonly changed: number
  readonly inode: number
  /** Present for a file that an ignore rule leaves out. */
  readonly ignored?: true
  /** Why the state may be inexact: a sentence. */
  readonly problem?: string
}

export type EntryStat = Pick<Entry, 'size' | 'modified' | 'changed' | 'inode'>

export function entryStat(stats: Stats): EntryStat {
  return { size: stats.size, modified: stats.mtimeMs, changed: stats.ctimeMs, inode: stats.ino }
}

export function sameStat(a: EntryStat, b: EntryStat): boolean {
  return a.size === b.size && a.modified === b.modified && a.changed === b.changed && a.inode === b.inode
}

export function entryMode(stats: Stats): EntryMode {
  if (stats.isFile()) return stats.mode & 0o100 ? '100755' : '100644'
  if (stats.isSymbolicLink()) return '120000'
  if (stats.isFIFO()) return 'pipe'
  return stats.isSocket() ? 'socket' : 'device'
}

/** File, symbolic link or something special: a change between these is a change of type. */
export function entryType(mode: EntryMode): string {
  return mode === '100755' ? '100644' : mode
}

/** Whether a mode has content that is read. */
export function hasContent(mode: EntryMode): boolean {
  return mode === '100644' || mode === '100755' || mode === '120000'
}

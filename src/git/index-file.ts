import type { PathBytes } from './path-bytes.ts'
import type { GitState } from './status.ts'

/** One record of an index file. */
export interface IndexRecord {
  readonly path: PathBytes
  readonly mode: number
  /** 1 to 3 are the sides of a conflict. */
  readonly stage: number
  readonly assumeUnchanged: boolean
  readonly skipWorktree: boolean
  readonly state: () => GitState
  /** Of the file, when git last compared it. */
  readonly times: () => RecordedTimes
}

/** In milliseconds. */
export interface RecordedTimes {
  readonly changed: number
  readonly modified: number
  readonly size: number
}

const headerLength = 12
const statLength = 40
const assumeUnchangedFlag = 0x8000
const extendedFlag = 0x4000
const lengthMask = 0x0fff
const skipWorktreeFlag = 0x4000

// Extensions without which an index is not complete: a shared index elsewhere, folders in place of files.
const incomplete = ['link', 'sdir']

/**
 * Gives every record of an index file of version 2 or 3 to `take`. Answers false, for git to be asked, where the
 * index is of another version or not complete in itself. Reading the file takes less time than starting git.
 */
export function readIndexFile(
  file: Buffer,
  objectFormat: string,
  take: (record: IndexRecord) => void,
): boolean {
  if (file.length < headerLength || file.toString('latin1', 0, 4) !== 'DIRC') return false
  const version = file.readUInt32BE(4)
  const oidLength = objectFormat === 'sha256' ? 32 : 20
  try {
    if ((version !== 2 && version !== 3) || !isComplete(file, oidLength)) return false
  } catch (error) {
    // git would take what is missing for zeros, and tell a state that never was.
    if (error instanceof RangeError) throw new Error('index file corrupt: it was cut short', { cause: error })
    throw error
  }
  eachRecord(file, oidLength, take)
  return true
}

// The extensions follow the records, so the records are walked first; reading no path, that is quick.
function isComplete(file: Buffer, oidLength: number): boolean {
  let at = eachRecord(file, oidLength, null)
  if (at > file.length - oidLength) throw new RangeError('The records go on beyond the end of the file.')
  while (at + 8 <= file.length - oidLength) {
    if (incomplete.includes(file.toString('latin1', at, at + 4))) return false
    at += 8 + file.readUInt32BE(at + 4)
  }
  return true
}

function eachRecord(file: Buffer, oidLength: number, take: ((record: IndexRecord) => void) | null): number {
  let at = headerLength
  for (let left = file.readUInt32BE(8); left > 0; left -= 1) {
    const start = at
    const flagsAt = start + statLength + oidLength
    const flags = file.readUInt16BE(flagsAt)
    const extended = (flags & extendedFlag) !== 0
    const pathAt = flagsAt + (extended ? 4 : 2)
    const length = flags & lengthMask
    // Longer names do not fit the field, and end with a NUL as all do.
    const end = length < lengthMask ? pathAt + length : file.indexOf(0, pathAt)
    if (take !== null) {
      const mode = file.readUInt32BE(start + 24)
      take({
        path: file.toString('latin1', pathAt, end),
        mode,
        stage: (flags >> 12) & 3,
        assumeUnchanged: (flags & assumeUnchangedFlag) !== 0,
        skipWorktree: extended && (file.readUInt16BE(flagsAt + 2) & skipWorktreeFlag) !== 0,
        times: () => ({
          changed: file.readUInt32BE(start) * 1000 + file.readUInt32BE(start + 4) / 1e6,
          modified: file.readUInt32BE(start + 8) * 1000 + file.readUInt32BE(start + 12) / 1e6,
          size: file.readUInt32BE(start + 36),
        }),
        state: () => ({ mode: mode.toString(8), oid: file.toString('hex', start + statLength, flagsAt) }),
      })
    }
    // Records are filled up to a multiple of eight, with one NUL at least.
    at = start + ((end - start + 8) & ~7)
  }
  return at
}

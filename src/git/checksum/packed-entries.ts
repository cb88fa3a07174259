import type { Entry, EntryMode } from './entry.ts'

/** Entries as columns of bytes: a manifest of 100,000 is read and written in a few hundredths of a second. */
export interface PackedEntries {
  readonly length: number
  /** By an entry's position. */
  readonly problems: Readonly<Record<number, string>>
  readonly columns: Buffer
}

const HASH_BYTES = 32
const STAT_NUMBERS = 4
const STAT_BYTES = STAT_NUMBERS * Float64Array.BYTES_PER_ELEMENT
const HASHED = 0x40
const IGNORED = 0x80

const MODES: readonly EntryMode[] = ['100644', '100755', '120000', 'pipe', 'socket', 'device', 'unreadable']

export function packEntries(entries: readonly Entry[]): PackedEntries {
  const { length } = entries
  const stats = new Float64Array(length * STAT_NUMBERS)
  const hashes = Buffer.alloc(length * HASH_BYTES)
  const flags = Buffer.alloc(length)
  const problems: Record<number, string> = {}
  entries.forEach((entry, at) => {
    const { size, modified, changed, inode, hash, mode, ignored, problem } = entry
    const first = at * STAT_NUMBERS
    stats[first] = size
    stats[first + 1] = modified
    stats[first + 2] = changed
    stats[first + 3] = inode
    if (hash !== null) hashes.write(hash, at * HASH_BYTES, 'hex')
    flags[at] = MODES.indexOf(mode) | (hash === null ? 0 : HASHED) | (ignored ? IGNORED : 0)
    if (problem !== undefined) problems[at] = problem
  })
  // Paths are bytes, one character each.
  const paths = Buffer.from(entries.map(({ path }) => path).join('\0'), 'latin1')
  return { length, problems, columns: Buffer.concat([Buffer.from(stats.buffer), hashes, flags, paths]) }
}

/** The columns without stats: what a scan found, not when. */
export function stateColumns(length: number, columns: Buffer): Buffer {
  return columns.subarray(length * STAT_BYTES)
}

export function unpackEntries({ length, problems, columns }: PackedEntries): readonly Entry[] {
  if (length === 0) return []
  const hashesAt = length * STAT_BYTES
  const flagsAt = hashesAt + length * HASH_BYTES
  const stats = new Float64Array(Uint8Array.from(columns.subarray(0, hashesAt)).buffer)
  const hashes = columns.toString('hex', hashesAt, flagsAt)
  const paths = columns.toString('latin1', flagsAt + length).split('\0')
  return paths.map((path, at) => {
    const flags = columns[flagsAt + at] ?? 0
    const number = (which: number): number => stats[at * STAT_NUMBERS + which] ?? 0
    const hash = flags & HASHED ? hashes.slice(at * HASH_BYTES * 2, (at + 1) * HASH_BYTES * 2) : null
    const entry = {
      path,
      mode: MODES[flags & 0x3f] ?? 'unreadable',
      hash,
      size: number(0),
      modified: number(1),
      changed: number(2),
      inode: number(3),
    }
    const problem = problems[at]
    if (problem !== undefined) return { ...entry, problem, ...(flags & IGNORED ? { ignored: true } : {}) }
    return flags & IGNORED ? { ...entry, ignored: true } : entry
  })
}

import { lstatSync, type Stats } from 'node:fs'
import { readRegular } from '../kernel/files/regular-file.ts'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'
import { diskPath, isAsciiPath, type PathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './process.ts'
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
  /** The stat of the file when git last compared it. */
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

// Extensions of an incomplete index: a shared index elsewhere, folders instead of files.
const incomplete = ['link', 'sdir']

/**
 * Passes every record of an index file of version 2 or 3 to `take`. Returns false if the index has another version or
 * is incomplete; then git must read it. Reading the file is faster than starting git.
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
    // git would read missing bytes as zeros and report a state that never existed.
    if (error instanceof RangeError) throw new Error('index file corrupt: it was cut short', { cause: error })
    throw error
  }
  eachRecord(file, oidLength, take)
  return true
}

// The extensions follow the records. Skipping the records is quick, as no path is read.
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
  // Not by the methods of a buffer: in a process that has just begun, these take five times as long.
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  let at = headerLength
  for (let left = view.getUint32(8); left > 0; left -= 1) {
    const start = at
    const flagsAt = start + statLength + oidLength
    const flags = view.getUint16(flagsAt)
    const extended = (flags & extendedFlag) !== 0
    const pathAt = flagsAt + (extended ? 4 : 2)
    const length = flags & lengthMask
    // Longer names do not fit the field. They end with a NUL, like all names.
    const end = length < lengthMask ? pathAt + length : file.indexOf(0, pathAt)
    if (take !== null) {
      const mode = view.getUint32(start + 24)
      take({
        path: file.toString('latin1', pathAt, end),
        mode,
        stage: (flags >> 12) & 3,
        assumeUnchanged: (flags & assumeUnchangedFlag) !== 0,
        skipWorktree: extended && (view.getUint16(flagsAt + 2) & skipWorktreeFlag) !== 0,
        times: () => ({
          changed: view.getUint32(start) * 1000 + view.getUint32(start + 4) / 1e6,
          modified: view.getUint32(start + 8) * 1000 + view.getUint32(start + 12) / 1e6,
          size: view.getUint32(start + 36),
        }),
        state: () => ({ mode: mode.toString(8), oid: file.toString('hex', start + statLength, flagsAt) }),
      })
    }
    // Records are padded to a multiple of eight, with at least one NUL.
    at = start + ((end - start + 8) & ~7)
  }
  return at
}

/** The index's information besides `status`: every tracked path, and the entries that `status` skips. */
export interface IndexEntries {
  readonly paths: readonly PathBytes[]
  /** Whether the paths can be displayed without decoding. */
  readonly ascii: boolean
  /** The attributes files. */
  readonly attributes: readonly PathBytes[]
  /** Submodules and other repositories recorded by their commit. */
  readonly submodules: readonly PathBytes[]
  /** Hidden from `status` by a flag. */
  readonly hidden: readonly HiddenEntry[]
  /** Entries whose times were set: git compares whole seconds, so it could miss an edit within one. */
  readonly setTimes: readonly SetTimesEntry[]
  /** The sizes of files as new as the index: git compares their contents. */
  readonly racyBytes: number
}

export interface SetTimesEntry {
  readonly path: PathBytes
  readonly index: GitState
  /** Null if the index has them in a form that is not read here. */
  readonly times: RecordedTimes | null
}

export interface HiddenEntry {
  readonly path: PathBytes
  readonly index: GitState
  readonly flag: 'skip-worktree' | 'assume-unchanged' | 'times set'
}

interface IndexEntry {
  readonly path: PathBytes
  readonly times?: RecordedTimes
  readonly isSubmodule: boolean
  readonly hidden: HiddenEntry | null
  readonly setTimes: SetTimesEntry | null
}

const submodule = 0o160000

/** Reads the user's index; with git if its format requires it. */
export async function readIndexEntries(
  place: PrivateDirectory,
  objectFormat: string,
  includes: (path: PathBytes) => boolean,
): Promise<IndexEntries> {
  const collection = new IndexCollector(includes, statOf(place.index)?.mtimeMs ?? 0)
  const file = await readRegular(place.index).catch(() => null)
  if (file === null) return collection.entries()
  const complete = readIndexFile(file, objectFormat, (record) => {
    const { path, mode, assumeUnchanged, skipWorktree } = record
    const flag = skipWorktree ? 'skip-worktree' : assumeUnchanged ? 'assume-unchanged' : null
    const hidden = flag === null ? null : ({ path, index: record.state(), flag } as const)
    const times = record.times()
    const isSet = truncateToSeconds(times.changed) !== truncateToSeconds(times.modified)
    const setTimes = isSet && hidden === null ? { path, index: record.state(), times } : null
    collection.add({ path, isSubmodule: mode === submodule, hidden, setTimes, times })
  })
  if (!complete) {
    const listing = await git(['ls-files', '-z', '-v', '-s'], privateCall(place))
    for (const entry of parseListing(listing)) collection.add(entry)
  }
  return collection.entries()
}

/** Parses `git ls-files -z -v -s`: `H 100644 <oid> 0<tab>path`. */
function* parseListing(output: Buffer): Generator<IndexEntry> {
  const text = output.toString('latin1')
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\0', start)
    const stop = end < 0 ? text.length : end
    const tab = text.indexOf('\t', start)
    const path = text.slice(tab + 1, stop)
    const [tag = 'H', mode = '', oid = ''] = text.slice(start, tab).split(' ')
    const flag = tag === 'S' || tag === 's' ? 'skip-worktree' : 'assume-unchanged'
    const hidden = tag === 'H' || tag === 'M' ? null : ({ path, index: { mode, oid }, flag } as const)
    const setTimes = hidden === null ? { path, index: { mode, oid }, times: null } : null
    yield { path, isSubmodule: mode === submodule.toString(8), hidden, setTimes }
    start = stop + 1
  }
}

function truncateToSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

class IndexCollector {
  readonly #includes: (path: PathBytes) => boolean
  readonly #paths: PathBytes[] = []
  readonly #submodules: PathBytes[] = []
  readonly #hidden: HiddenEntry[] = []
  #ascii = true
  readonly #attributes: PathBytes[] = []
  readonly #setTimes: SetTimesEntry[] = []
  readonly #writtenAt: number
  #racyBytes = 0

  /** `writtenAt`: when the index was written, in milliseconds. */
  constructor(includes: (path: PathBytes) => boolean, writtenAt: number) {
    this.#includes = includes
    this.#writtenAt = truncateToSeconds(writtenAt)
  }

  add({ path, isSubmodule, hidden, setTimes, times }: IndexEntry): void {
    if (times !== undefined && truncateToSeconds(times.modified) >= this.#writtenAt)
      this.#racyBytes += times.size
    // A conflicted path has one record per stage, next to each other.
    if (path === this.#paths.at(-1) || !this.#includes(path)) return
    this.#paths.push(path)
    if (this.#ascii && !isAsciiPath(path)) this.#ascii = false
    if (path.endsWith('.gitattributes')) this.#attributes.push(path)
    if (isSubmodule) this.#submodules.push(path)
    if (hidden !== null) this.#hidden.push(hidden)
    if (setTimes !== null && !isSubmodule) this.#setTimes.push(setTimes)
  }

  entries(): IndexEntries {
    return {
      paths: this.#paths,
      ascii: this.#ascii,
      attributes: this.#attributes,
      submodules: this.#submodules,
      hidden: this.#hidden,
      setTimes: this.#setTimes,
      racyBytes: this.#racyBytes,
    }
  }
}

// About two milliseconds: a server goes on answering meanwhile.
const perTurn = 500

// The precision of a number of milliseconds since 1970.
const precision = 0.001

// The longest time between two ticks of a file system's clock.
const tick = 20

/**
 * Files that git takes for unchanged by their times, but that may have been edited: git compares whole seconds, and an
 * edit with a reset modification time shows only in the change time.
 */
export async function doubtfulTimes(
  place: { readonly top: string; readonly index: string },
  entries: readonly SetTimesEntry[],
): Promise<HiddenEntry[]> {
  if (entries.length === 0) return []
  const comparedAt = statOf(place.index)?.mtimeMs ?? 0
  const doubtful: HiddenEntry[] = []
  for (const [at, entry] of entries.entries()) {
    if (at > 0 && at % perTurn === 0) await yieldToEventLoop()
    const stat = statOf(diskPath(place.top, entry.path))
    if (stat !== null && isDoubtful(entry, stat, comparedAt)) {
      doubtful.push({ path: entry.path, index: entry.index, flag: 'times set' })
    }
  }
  return doubtful
}

function isDoubtful(
  { times }: SetTimesEntry,
  { mtimeMs, ctimeMs, size }: Stats,
  comparedAt: number,
): boolean {
  if (times === null) return Math.floor(mtimeMs / 1000) !== Math.floor(ctimeMs / 1000)
  // git notices these by itself.
  if (
    indexSeconds(times.changed) !== indexSeconds(ctimeMs) ||
    indexSeconds(times.modified) !== indexSeconds(mtimeMs)
  )
    return false
  if (times.size !== size % 2 ** 32) return false
  const wholeSeconds = times.changed % 1000 === 0 && times.modified % 1000 === 0
  const differ =
    Math.abs(times.changed - ctimeMs) > precision || Math.abs(times.modified - mtimeMs) > precision
  return differ || wholeSeconds || times.changed > comparedAt - tick
}

function indexSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

function statOf(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}

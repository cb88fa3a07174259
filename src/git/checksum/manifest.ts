import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  type Stats,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { PathBytes } from '../paths.ts'

/** Everything a checksum snapshot knows. A file of the private directory, so that any process can compare it later. */
export interface Manifest {
  /** When the scan began, milliseconds. */
  readonly scannedAt: number
  readonly entries: readonly Entry[]
  /** Folders that ignore rules leave out, ending with `/`. Never opened. */
  readonly ignoredFolders: readonly PathBytes[]
  /** Hash of each ignore file, by its folder. */
  readonly rules: Readonly<Record<PathBytes, string>>
  readonly contents: ContentIndex
  readonly notes: readonly string[]
}

const NAME = 'manifest'
const FORMAT = 'waymark checksum manifest 1'

/**
 * Writes the manifest, all at once: a process that dies leaves none or a whole one.
 * Answers its hash: two scans that found the same state have the same.
 */
export function writeManifest(directory: string, manifest: Manifest): string {
  const { entries, contents, ...rest } = manifest
  const { columns, ...packed } = packEntries(entries)
  const head = Buffer.from(JSON.stringify({ ...rest, ...packed, contents: [...contents] }))
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, NAME)
  writeFileSync(`${path}.new`, Buffer.concat([firstLine(head, columns), head, columns]), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return hash('sha256', stateColumns(packed.length, columns), 'hex')
}

/** Null when it is lost, damaged or of another format. */
export function readManifest(directory: string): Manifest | null {
  try {
    const file = readFileSync(join(directory, NAME))
    const headAt = file.indexOf('\n') + 1
    const columnsAt = headAt + Number(file.toString('latin1', 0, headAt).split(' ').at(-1))
    const head = file.subarray(headAt, columnsAt)
    const columns = file.subarray(columnsAt)
    if (!file.subarray(0, headAt).equals(firstLine(head, columns))) return null
    // The first line says that this is what writeManifest wrote.
    const { length, problems, contents, ...rest } = JSON.parse(head.toString('utf8')) as StoredHead
    return { ...rest, entries: unpackEntries({ length, problems, columns }), contents: new Map(contents) }
  } catch {
    return null
  }
}

type StoredHead = Omit<Manifest, 'entries' | 'contents'> &
  Omit<PackedEntries, 'columns'> & { readonly contents: readonly (readonly [string, ContentPlace])[] }

// Format, checksum and the head's length: a file that was cut short or altered does not fit it.
function firstLine(head: Buffer, columns: Buffer): Buffer {
  return Buffer.from(`${FORMAT} ${crc32(columns, crc32(head))} ${head.length}\n`)
}

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

function packEntries(entries: readonly Entry[]): PackedEntries {
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
function stateColumns(length: number, columns: Buffer): Buffer {
  return columns.subarray(length * STAT_BYTES)
}

function unpackEntries({ length, problems, columns }: PackedEntries): readonly Entry[] {
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

/** A scan as it is kept: its manifest, and where its contents are. */
export interface StoredScan {
  readonly directory: string
  readonly manifest: Manifest
}

/** Null when the manifest is lost or damaged. */
export function storedScan(directory: string): StoredScan | null {
  const manifest = readManifest(directory)
  return manifest === null ? null : { directory, manifest }
}

/** The text of a path's content; empty for a path that is not there. Null when it is not kept: binary, large or gone. */
export function textOf({ directory, manifest }: StoredScan, entry: Entry | null): string | null {
  if (entry === null) return ''
  if (entry.hash === null) return null
  const place = manifest.contents.get(entry.hash)
  return place === undefined ? null : (readContent(directory, place)?.toString('utf8') ?? null)
}

/** Where the content of a hash is: pack, offset and length in bytes. */
export type ContentPlace = readonly [pack: string, offset: number, length: number]

/** The contents that a snapshot keeps for line counts and diffs, by hash. */
export type ContentIndex = ReadonlyMap<string, ContentPlace>

const MOST_BYTES_OF_ONE = 5_000_000
const MOST_BYTES = 64_000_000
const MOST_FILES = 20_000
const MOST_PACKS = 8
const LARGE_PACK = 4_000_000

/** Whether a content may be kept: small, and text by git's measure. */
function isKeepable(content: Buffer): boolean {
  return content.length <= MOST_BYTES_OF_ONE && !content.subarray(0, 8000).includes(0)
}

/** The contents of a snapshot while it is taken. Those that an earlier snapshot holds are linked, not written again. */
export class ContentStore {
  readonly #directory: string
  readonly #earlier: ContentIndex
  readonly #earlierDirectory: string
  readonly #index = new Map<string, ContentPlace>()
  readonly #pack = `pack-${randomUUID()}`
  #file: number | undefined
  #offset = 0
  #bytes = 0
  #files = 0

  constructor(
    directory: string,
    earlier: { readonly directory: string; readonly index: ContentIndex } | null,
  ) {
    this.#directory = directory
    this.#earlier = earlier?.index ?? new Map()
    this.#earlierDirectory = earlier?.directory ?? ''
  }

  /** Takes over a content from the earlier snapshot, if it is there. */
  carry(hash: string): boolean {
    const place = this.#earlier.get(hash)
    if (place === undefined) return false
    if (!this.#index.has(hash) && this.#hasRoom(place[2])) this.#register(hash, place)
    return true
  }

  /** Keeps a content as long as there is room. */
  add(hash: string, content: Buffer): void {
    if (this.#index.has(hash) || this.carry(hash)) return
    if (!isKeepable(content) || !this.#hasRoom(content.length)) return
    this.#register(hash, this.#write(content))
  }

  /** Brings the earlier packs over and answers the index. */
  close(): ContentIndex {
    const packs = new Set(this.#index.values().map(([pack]) => pack))
    packs.delete(this.#pack)
    if (packs.size > MOST_PACKS) for (const pack of this.#small()) packs.delete(pack)
    for (const pack of packs) this.#link(pack)
    if (this.#file !== undefined) closeSync(this.#file)
    return this.#index
  }

  #hasRoom(length: number): boolean {
    return this.#files < MOST_FILES && this.#bytes + length <= MOST_BYTES
  }

  #register(hash: string, place: ContentPlace): void {
    this.#index.set(hash, place)
    this.#files += 1
    this.#bytes += place[2]
  }

  #write(content: Buffer): ContentPlace {
    if (this.#file === undefined) {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      this.#file = openSync(join(this.#directory, this.#pack), 'wx', 0o600)
    }
    for (let done = 0; done < content.length; ) done += writeSync(this.#file, content, done)
    const place: ContentPlace = [this.#pack, this.#offset, content.length]
    this.#offset += content.length
    return place
  }

  #link(pack: string): void {
    const from = join(this.#earlierDirectory, pack)
    const to = join(this.#directory, pack)
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    try {
      linkSync(from, to)
    } catch {
      this.#copy(from, to)
    }
  }

  // Without it those contents are gone, which a reader of the index notices by himself.
  #copy(from: string, to: string): void {
    try {
      copyFileSync(from, to)
    } catch {}
  }

  // Many small packs, mostly dead, become one. A large one stays as it is: it would be written again and again.
  #small(): ReadonlySet<string> {
    const needed = new Map<string, number>()
    for (const [pack, , length] of this.#index.values()) needed.set(pack, (needed.get(pack) ?? 0) + length)
    needed.delete(this.#pack)
    const small = new Set([...needed].filter(([, bytes]) => bytes < LARGE_PACK).map(([pack]) => pack))
    this.#rewrite(small)
    return small
  }

  #rewrite(packs: ReadonlySet<string>): void {
    for (const [hash, place] of this.#index) {
      if (!packs.has(place[0])) continue
      const content = readContent(this.#earlierDirectory, place)
      if (content === null) this.#index.delete(hash)
      else this.#index.set(hash, this.#write(content))
    }
  }
}

/** Null when the pack is gone or too short. */
function readContent(directory: string, [pack, offset, length]: ContentPlace): Buffer | null {
  try {
    const file = openSync(join(directory, pack), 'r')
    try {
      const content = Buffer.alloc(length)
      return readSync(file, content, 0, length, offset) === length ? content : null
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

import type { Stats } from 'node:fs'
import { onDisk, type PathBytes } from '../path-bytes.ts'
import type { ContentStore } from './contents.ts'
import {
  type Entry,
  type EntryMode,
  type EntryStat,
  entryMode,
  entryStat,
  hasContent,
  sameStat,
} from './entry.ts'
import type { Manifest } from './manifest.ts'
import { readLink, readRegularFile } from './read-file.ts'

const MOST_FILES = 200_000
const MOST_BYTES = 4_000_000_000
const MOST_IGNORED = 2_000
const MOST_IGNORED_READ = 200
const MOST_IGNORED_BYTES = 1_000_000

// A clock may tick in steps of up to two seconds: a younger file may have changed again within the same tick.
const SETTLED = 2_000

/** Takes the state of single files, within limits, and reads only what changed since the earlier scan. */
export class Measure {
  readonly #top: string
  readonly #contents: ContentStore
  readonly #earlier: readonly Entry[]
  readonly #settledBefore: number
  #positions: ReadonlyMap<PathBytes, number> | undefined
  #next = 0
  #files = 0
  #bytes = 0
  #ignored = 0

  constructor(top: string, earlier: Manifest | null, contents: ContentStore) {
    this.#top = top
    this.#contents = contents
    this.#earlier = earlier?.entries ?? []
    this.#settledBefore = (earlier?.scannedAt ?? 0) - SETTLED
  }

  /** What the earlier scan had at a path. */
  earlier(path: PathBytes): Entry | undefined {
    // Both scans go through the folders in the same order, so that the next one is nearly always the one.
    const next = this.#earlier[this.#next]
    if (next?.path === path) {
      this.#next += 1
      return next
    }
    this.#positions ??= new Map(this.#earlier.map((entry, at) => [entry.path, at]))
    const at = this.#positions.get(path)
    if (at === undefined) return undefined
    this.#next = at + 1
    return this.#earlier[at]
  }

  /** Null for a file that is gone again. */
  listed(path: PathBytes, stats: Stats, earlier: Entry | undefined): Entry | null {
    const mode = entryMode(stats)
    const stat = entryStat(stats)
    if (!hasContent(mode)) return { path, mode, hash: null, ...stat }
    const known = this.#known(stat, earlier)
    if (known !== null) return known
    return this.#mayRead(stat.size) ? this.#read(path, mode, stat) : { path, mode, hash: null, ...stat }
  }

  /** The same for an ignored file, of which only small and few ones are read. Null beyond that, too. */
  ignored(path: PathBytes, stats: Stats, earlier: Entry | undefined): Entry | null {
    this.#ignored += 1
    if (this.#ignored > MOST_IGNORED) return null
    const entry =
      stats.size > MOST_IGNORED_BYTES || this.#ignored > MOST_IGNORED_READ
        ? { path, mode: entryMode(stats), hash: null, ...entryStat(stats) }
        : this.listed(path, stats, earlier)
    return entry === null ? null : { ...entry, ignored: true }
  }

  #read(path: PathBytes, mode: EntryMode, stat: EntryStat): Entry | null {
    try {
      const place = onDisk(this.#top, path)
      const { hash, content, problem } = mode === '120000' ? readLink(place) : readRegularFile(place, stat)
      if (content !== null) this.#contents.add(hash, content)
      return { path, mode, hash, ...stat, ...(problem === undefined ? {} : { problem }) }
    } catch (error) {
      return isGone(error) ? null : { path, mode, hash: null, ...stat, problem: sentenceOf(error) }
    }
  }

  // The mode needs no comparison: changing it changes `changed`.
  #known(stat: EntryStat, entry: Entry | undefined): Entry | null {
    if (entry === undefined || entry.hash === null || entry.problem !== undefined) return null
    if (Math.max(stat.modified, stat.changed) >= this.#settledBefore || !sameStat(entry, stat)) return null
    this.#contents.carry(entry.hash)
    return entry.ignored ? { path: entry.path, mode: entry.mode, hash: entry.hash, ...stat } : entry
  }

  #mayRead(size: number): boolean {
    this.#files += 1
    this.#bytes += size
    return this.#files <= MOST_FILES && this.#bytes <= MOST_BYTES
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function sentenceOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return `It could not be read (${String(error.code)}).`
  return error instanceof Error ? error.message : String(error)
}

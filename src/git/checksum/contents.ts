import { randomUUID } from 'node:crypto'
import { closeSync, copyFileSync, linkSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'

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
export function readContent(directory: string, [pack, offset, length]: ContentPlace): Buffer | null {
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

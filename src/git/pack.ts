import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflate, deflateSync } from 'node:zlib'

/** An object of git, not written yet. */
export interface NewObject {
  readonly type: 'tree' | 'blob'
  readonly content: Buffer
}

const typeNumbers = { tree: 2, blob: 3 } satisfies Record<NewObject['type'], number>

const deflateAside = promisify(deflate)
// Packed on a thread beyond this: a server goes on answering meanwhile.
const small = 64 * 1024
// Beyond this a pack is written, and another begun.
const mostPacked = 64 * 1024 * 1024

/** The id that git gives to an object. */
export function objectId(objectFormat: string, { type, content }: NewObject): string {
  return createHash(objectFormat).update(`${type} ${content.length}\0`).update(content).digest('hex')
}

/**
 * Puts objects into a pack of a folder of objects. Starting git for it takes longer than the packing of the few hundred
 * small files that a task changes.
 */
export class PackWriter {
  readonly #folder: string
  readonly #objectFormat: string
  readonly #isThere: (oid: string) => boolean
  readonly #records = new Map<string, PackedRecord>()
  #parts: Buffer[] = []
  #length = headLength

  /** What is there already is not written again. */
  constructor(folder: string, objectFormat: string, isThere: (oid: string) => boolean = () => false) {
    this.#folder = folder
    this.#objectFormat = objectFormat
    this.#isThere = isThere
  }

  /** Answers the object's id. */
  async add(object: NewObject): Promise<string> {
    const oid = objectId(this.#objectFormat, object)
    if (this.#records.has(oid) || this.#isThere(oid)) return oid
    const { type, content } = object
    const level = { level: 1 }
    const body = content.length > small ? await deflateAside(content, level) : deflateSync(content, level)
    const packed = Buffer.concat([recordHead(typeNumbers[type], content.length), body])
    this.#records.set(oid, { oid, at: this.#length, crc: crc32(packed) })
    this.#parts.push(packed)
    this.#length += packed.length
    if (this.#length > mostPacked) this.close()
    return oid
  }

  /** Writes what was added. */
  close(): void {
    if (this.#records.size === 0) return
    const head = Buffer.alloc(headLength)
    head.write('PACK')
    head.writeUInt32BE(2, 4)
    head.writeUInt32BE(this.#records.size, 8)
    const body = Buffer.concat([head, ...this.#parts])
    const sum = createHash(this.#objectFormat).update(body).digest()
    mkdirSync(join(this.#folder, 'pack'), { recursive: true, mode: 0o700 })
    const draft = join(this.#folder, 'pack', `tmp_${randomUUID()}`)
    const place = join(this.#folder, 'pack', `pack-${sum.toString('hex')}`)
    // The index last: where it is, its pack is.
    writeFileSync(draft, Buffer.concat([body, sum]), { mode: 0o400 })
    renameSync(draft, `${place}.pack`)
    writeFileSync(draft, packIndex([...this.#records.values()], sum, this.#objectFormat), { mode: 0o400 })
    renameSync(draft, `${place}.idx`)
    this.#records.clear()
    this.#parts = []
    this.#length = headLength
  }
}

const headLength = 12

interface PackedRecord {
  readonly oid: string
  readonly at: number
  readonly crc: number
}

// The type and the size, four bits of it and then seven a byte, each but the last with the highest bit set.
function recordHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}

/** Version 2 of a pack's index: how many ids begin with up to which byte, the ids, their checksums, their places. */
function packIndex(records: readonly PackedRecord[], packSum: Buffer, objectFormat: string): Buffer {
  const sorted = records.toSorted((a, b) => (a.oid < b.oid ? -1 : 1))
  const fanOut = Buffer.alloc(256 * 4)
  const counts = new Uint32Array(256)
  for (const { oid } of sorted) {
    const first = Number.parseInt(oid.slice(0, 2), 16)
    counts[first] = (counts[first] ?? 0) + 1
  }
  let total = 0
  for (const [byte, count] of counts.entries()) {
    total += count
    fanOut.writeUInt32BE(total, byte * 4)
  }
  const numbers = (of: (record: PackedRecord) => number) => {
    const column = Buffer.alloc(sorted.length * 4)
    for (const [row, record] of sorted.entries()) column.writeUInt32BE(of(record), row * 4)
    return column
  }
  const body = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    fanOut,
    Buffer.from(sorted.map(({ oid }) => oid).join(''), 'hex'),
    numbers(({ crc }) => crc),
    numbers(({ at }) => at),
    packSum,
  ])
  return Buffer.concat([body, createHash(objectFormat).update(body).digest()])
}

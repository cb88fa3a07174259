import { createHash, hash, randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflate, deflateSync } from 'node:zlib'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'

/** An object of git, not written yet. */
export interface NewObject {
  readonly type: 'tree' | 'blob'
  readonly content: Buffer
}

const typeNumbers = { tree: 2, blob: 3 } satisfies Record<NewObject['type'], number>

// Larger objects are packed on a thread. After this many small ones the event loop continues, so a server can answer.
const small = 64 * 1024
const perTurn = 200
// At this size a pack is written and the next one begins.
const maxHeld = 16 * 1024 * 1024

/** The id that git gives to an object. */
export function objectId(objectFormat: string, { type, content }: NewObject): string {
  const head = Buffer.from(`${type} ${content.length}\0`, 'latin1')
  // For small contents, copying is faster than hashing in two steps.
  if (content.length <= small) return hash(objectFormat, Buffer.concat([head, content]))
  return createHash(objectFormat).update(head).update(content).digest('hex')
}

/**
 * Packs objects into a folder of objects. Starting git takes longer than packing the few hundred small files that a
 * task changes.
 */
export class PackWriter {
  readonly #folder: string
  readonly #objectFormat: string
  readonly #isThere: (oid: string) => boolean
  readonly #objects = new Map<string, NewObject>()
  #held = 0

  /** `isThere`: objects that exist are not written again. */
  constructor(folder: string, objectFormat: string, isThere: (oid: string) => boolean = () => false) {
    this.#folder = folder
    this.#objectFormat = objectFormat
    this.#isThere = isThere
  }

  /** Returns the object's id. */
  async add(object: NewObject): Promise<string> {
    const oid = objectId(this.#objectFormat, object)
    if (this.#objects.has(oid) || this.#isThere(oid)) return oid
    this.#objects.set(oid, object)
    this.#held += object.content.length
    if (this.#held > maxHeld) await this.close()
    return oid
  }

  /** Writes the added objects. */
  async close(): Promise<void> {
    const objects = [...this.#objects]
    this.#objects.clear()
    this.#held = 0
    if (objects.length === 0) return
    const head = Buffer.alloc(12)
    head.write('PACK')
    head.writeUInt32BE(2, 4)
    head.writeUInt32BE(objects.length, 8)
    const parts: Buffer[] = [head]
    const records: PackedRecord[] = []
    let length = head.length
    for (const [at, [oid, object]] of objects.entries()) {
      if (at % perTurn === perTurn - 1) await yieldToEventLoop()
      const packed = await packedObject(object)
      records.push({ oid, at: length, crc: crc32(packed) })
      parts.push(packed)
      length += packed.length
    }
    const body = Buffer.concat(parts)
    const sum = createHash(this.#objectFormat).update(body).digest()
    mkdirSync(join(this.#folder, 'pack'), { recursive: true, mode: 0o700 })
    const draft = join(this.#folder, 'pack', `tmp_${randomUUID()}`)
    const place = join(this.#folder, 'pack', `pack-${sum.toString('hex')}`)
    // Write the index last: it implies that the pack exists.
    writeFileSync(draft, Buffer.concat([body, sum]), { mode: 0o400 })
    renameSync(draft, `${place}.pack`)
    writeFileSync(draft, packIndex(records, sum, this.#objectFormat), { mode: 0o400 })
    renameSync(draft, `${place}.idx`)
  }
}

async function packedObject({ type, content }: NewObject): Promise<Buffer> {
  const head = recordHead(typeNumbers[type], content.length)
  // A tree consists mostly of ids, which do not compress.
  if (type === 'tree' && content.length < 0xffff) return Buffer.concat([head, deflateStored(content)])
  const isLarge = content.length > small
  return Buffer.concat([
    head,
    isLarge ? await promisify(deflate)(content, { level: 1 }) : packedSmall(content),
  ])
}

/** The content as an uncompressed zlib stream: one block and its checksum. */
function deflateStored(content: Buffer): Buffer {
  const { length } = content
  const framed = Buffer.alloc(length + 11)
  framed.set([0x78, 0x01, 0x01])
  framed.writeUInt16LE(length, 3)
  framed.writeUInt16LE(0xffff - length, 5)
  content.copy(framed, 7)
  let low = 1
  let high = 0
  for (const byte of content) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  framed.writeUInt16BE(high, length + 7)
  framed.writeUInt16BE(low, length + 9)
  return framed
}

// With little memory each, as there can be hundreds of small files.
function packedSmall(content: Buffer): Buffer {
  return deflateSync(content, { level: 1, windowBits: 12, memLevel: 4, chunkSize: content.length + 64 })
}

interface PackedRecord {
  readonly oid: string
  readonly at: number
  readonly crc: number
}

// The type and the size: four bits first, then seven per byte. All bytes but the last have the highest bit set.
function recordHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}

/** Version 2 of a pack's index: the fan-out table, the ids, their checksums and their offsets. */
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

/** A field of a protobuf message: a number, the eight bytes of a fixed64, or bytes. */
type Value = bigint | Buffer

/** The fields of one message by their number, each with all its values in order. */
export class Message {
  readonly #fields = new Map<number, Value[]>()

  constructor(bytes: Buffer) {
    let at = 0
    const varint = (): bigint => {
      let value = 0n
      for (let shift = 0n; ; shift += 7n) {
        const byte = BigInt(bytes.readUInt8(at))
        at += 1
        value |= (byte & 127n) << shift
        if (byte < 128n) return value
      }
    }
    const take = (length: number): Buffer => {
      at += length
      return bytes.subarray(at - length, at)
    }
    while (at < bytes.length) {
      const tag = Number(varint())
      const values = this.#fields.get(tag >> 3) ?? []
      this.#fields.set(tag >> 3, values)
      const wire = tag & 7
      if (wire === 0) values.push(varint())
      else if (wire === 1) values.push(take(8).readBigUInt64LE())
      else if (wire === 2) values.push(take(Number(varint())))
      else if (wire === 5) values.push(BigInt(take(4).readUInt32LE()))
      else throw new Error(`a field of wire type ${wire}`)
    }
  }

  bytes(field: number): Buffer {
    const value = this.#fields.get(field)?.at(-1)
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
  }

  number(field: number): bigint {
    const value = this.#fields.get(field)?.at(-1)
    return typeof value === 'bigint' ? value : 0n
  }

  has(field: number): boolean {
    return this.#fields.has(field)
  }

  messages(field: number): readonly Message[] {
    return (this.#fields.get(field) ?? []).flatMap((value) =>
      Buffer.isBuffer(value) ? [new Message(value)] : [],
    )
  }

  strings(field: number): readonly string[] {
    return (this.#fields.get(field) ?? []).map(String)
  }
}

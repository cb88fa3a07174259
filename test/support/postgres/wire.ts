/** The words of PostgreSQL's protocol, as far as the tests' own proxies read and say them. */

/** Cuts a stream into messages: a kind of one letter, a length, and a body. */
export class Messages {
  #rest: Buffer = Buffer.alloc(0)
  #hasKind: boolean

  /** A client's first message has no kind. */
  constructor(of: 'client' | 'server') {
    this.#hasKind = of === 'server'
  }

  read(chunk: Buffer): readonly Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk])
    const messages: Buffer[] = []
    for (;;) {
      const at = this.#hasKind ? 1 : 0
      if (this.#rest.length < at + 4) return messages
      const length = at + this.#rest.readUInt32BE(at)
      if (this.#rest.length < length) return messages
      messages.push(this.#rest.subarray(0, length))
      this.#rest = this.#rest.subarray(length)
      this.#hasKind = true
    }
  }
}

export function kindOf(message: Buffer): string {
  return String.fromCharCode(message[0] ?? 0)
}

interface Message {
  readonly bytes: Buffer
  /** What is executed by it; null for everything else. */
  readonly statement: string | null
}

/** The messages of one client, each with the statement that it executes, also where that was prepared before. */
export class Statements {
  readonly #prepared = new Map<string, string>()
  readonly #messages = new Messages('client')
  #hasBegun = false

  read(chunk: Buffer): readonly Message[] {
    return this.#messages.read(chunk).map((bytes) => {
      const statement = this.#hasBegun ? this.#statementOf(bytes) : null
      this.#hasBegun = true
      return { bytes, statement }
    })
  }

  #statementOf(bytes: Buffer): string | null {
    const kind = kindOf(bytes)
    const [one = '', two = ''] = bytes.toString('latin1', 5).split('\0')
    if (kind === 'Q') return one
    if (kind === 'P') this.#prepared.set(one, two)
    return kind === 'B' ? (this.#prepared.get(two) ?? null) : null
  }
}

export function errorOf(code: string): Buffer {
  return messageOf('E', `SERROR\0VERROR\0C${code}\0Minjected\0\0`)
}

export const readyForQuery = messageOf('Z', 'I')

export function messageOf(kind: string, body: string): Buffer {
  const head = Buffer.alloc(5)
  head.write(kind)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, Buffer.from(body)])
}

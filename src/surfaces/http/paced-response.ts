import { type IncomingMessage, ServerResponse } from 'node:http'

/** The size of a piece of a long answer, in bytes. */
const pieceBytes = 64 * 1024

type WriteCallback = (error?: Error | null) => void

interface ResponseChunk {
  readonly bytes: Buffer
  at: number
  readonly written: WriteCallback | undefined
}

/**
 * A response that writes in pieces, each after the one before was sent. A single write of many megabytes would hide
 * whether its reader reads anything.
 */
export class PacedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  readonly #parts: ResponseChunk[] = []
  #end: (() => void) | null = null
  #waiting = 0

  /** Bytes in this buffer, not yet passed to the system. */
  get waitingBytes(): number {
    return this.#waiting
  }

  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    const written = callbackIn(encoding, callback)
    if (this.#parts.length === 0 && !isLong(chunk)) return super.write(chunk, encodingIn(encoding), written)
    this.#add(chunk, encoding, written)
    return this.#writePieces()
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    const written = callbackIn(chunk, encoding, callback)
    const isEmpty = chunk === undefined || chunk === null || typeof chunk === 'function'
    if (this.#parts.length === 0 && !isLong(chunk)) {
      return isEmpty ? super.end(written) : super.end(chunk, encodingIn(encoding), written)
    }
    if (!isEmpty) this.#add(chunk, encoding, undefined)
    this.#end = () => void super.end(written)
    this.#writePieces()
    return this
  }

  /** Emits `drain` when this buffer is empty. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'drain' && this.#parts.length > 0 && !this.#writePieces()) return true
    if (event === 'close') this.#forget()
    return super.emit(event, ...args)
  }

  #add(chunk: unknown, encoding: unknown, written: WriteCallback | undefined): void {
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, encodingIn(encoding))
        : Buffer.from(chunk as Uint8Array<ArrayBuffer>) // the types that Node accepts
    this.#parts.push({ bytes, at: 0, written })
    this.#waiting += bytes.length
  }

  /** Returns whether the buffer is empty and more may be written. */
  #writePieces(): boolean {
    for (let part = this.#parts[0]; part !== undefined; part = this.#parts[0]) {
      if (this.destroyed) {
        this.#forget()
        return false
      }
      const piece = part.bytes.subarray(part.at, part.at + pieceBytes)
      part.at += piece.length
      this.#waiting -= piece.length
      const isWhole = part.at >= part.bytes.length
      if (isWhole) this.#parts.shift()
      const isFree = super.write(piece, 'utf8', isWhole ? part.written : undefined)
      if (!isFree && (this.#parts.length > 0 || this.#end === null)) return false
    }
    const end = this.#end
    this.#end = null
    end?.()
    return end === null
  }

  #forget(): void {
    this.#parts.length = 0
    this.#waiting = 0
  }
}

function isLong(chunk: unknown): boolean {
  return (typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length > pieceBytes
}

function encodingIn(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8'
}

function callbackIn(...given: readonly unknown[]): WriteCallback | undefined {
  return given.find((one) => typeof one === 'function') as WriteCallback | undefined // as in Node's own methods
}

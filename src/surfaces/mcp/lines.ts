import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
} from '@modelcontextprotocol/server'
import { isJsonObject } from '../../kernel/json.ts'
import { outlineOf } from '../../kernel/json-outline.ts'
import { errorCodes, isMessage, isRequest, isRequestId } from './json-rpc.ts'
import { mistakenArguments, tooDeep } from './malformed-params.ts'

/** The meaning of a line: a message, an error as answer, or nothing. */
export type ReadLine =
  | { readonly kind: 'message'; readonly message: JSONRPCMessage }
  | { readonly kind: 'refused'; readonly answer: JSONRPCErrorResponse }
  | { readonly kind: 'empty' }

/** Parses a line. An invalid message gets an error, so that no one waits for an answer in vain. */
export function readLine(line: InputLine): ReadLine {
  if (line.kind === 'too_long') return refusedLine(idOfEnds(line.ends), lineTooLong(line.bytes))
  if (line.text.trim() === '') return { kind: 'empty' }
  const outline = outlineOf(line.text)
  if (outline.tooDeep) return refusedLine(outline.id ?? undefined, tooDeep)
  let value: unknown
  try {
    value = JSON.parse(line.text)
  } catch {
    return refusedLine(undefined, { code: errorCodes.parse, message: 'Parse error' })
  }
  if (isRequest(value)) return readRequest(value)
  if (isMessage(value)) return { kind: 'message', message: value }
  return refusedLine(
    idOf(value),
    paramsError(value) ?? { code: errorCodes.invalidRequest, message: 'Invalid Request' },
  )
}

function readRequest(message: JSONRPCRequest): ReadLine {
  const mistake = mistakenArguments(message)
  return mistake ? refusedLine(message.id, mistake) : { kind: 'message', message }
}

/** The error of a request with malformed parameters. */
function paramsError(value: unknown): JSONRPCErrorResponse['error'] | null {
  if (!isJsonObject(value)) return null
  const { params, ...rest } = value
  if (!isRequest(rest) || !isJsonObject(params)) return null
  return mistakenArguments({ ...rest, params: { ...params } })
}

function refusedLine(id: RequestId | undefined, error: JSONRPCErrorResponse['error']): ReadLine {
  return { kind: 'refused', answer: { jsonrpc: '2.0', ...(id !== undefined && { id }), error } }
}

function lineTooLong(bytes: number): JSONRPCErrorResponse['error'] {
  return {
    code: errorCodes.invalidRequest,
    message: `Invalid Request: the line has ${bytes} bytes, and at most 10 MiB are read.`,
  }
}

function idOf(value: unknown): RequestId | undefined {
  return isJsonObject(value) && isRequestId(value['id']) ? value['id'] : undefined
}

// Clients write the id right after `jsonrpc` or as the last member. Elsewhere it might belong to the parameters.
const atBeginning = /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]*")\s*,/
const atEnd = /,\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]*")\s*\}\s*$/

function idOfEnds({ head, tail }: HeadAndTail): RequestId | undefined {
  const written = (atBeginning.exec(head) ?? atEnd.exec(tail))?.[1]
  if (written === undefined) return undefined
  return written.startsWith('"') ? written.slice(1, -1) : Number(written)
}

/** A received line: its text, or the rest of a line that was too long to keep. */
export type InputLine =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too_long'; readonly bytes: number; readonly ends: HeadAndTail }

const newline = 0x0a
const decoder = new TextDecoder()

/** Splits bytes into lines, keeping at most `longest` bytes of one. Chunks may split a character. */
export class LineSplitter {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #bytes = 0
  #ends: HeadAndTail | null = null

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that a chunk completes. */
  take(chunk: Buffer): readonly InputLine[] {
    const lines: InputLine[] = []
    let from = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, at))
      lines.push(this.#finish())
      from = at + 1
    }
    this.#keep(chunk.subarray(from))
    return lines
  }

  /** The last line, if it has no newline. */
  rest(): readonly InputLine[] {
    return this.#bytes === 0 ? [] : [this.#finish()]
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#ends === null && this.#bytes > this.#maxBytes) {
      this.#ends = new HeadAndTail()
      for (const chunk of this.#chunks) this.#ends.add(chunk)
      this.#chunks = []
    }
    if (this.#ends) this.#ends.add(part)
    else if (part.length > 0) this.#chunks.push(part)
  }

  #finish(): InputLine {
    const line: InputLine = this.#ends
      ? { kind: 'too_long', bytes: this.#bytes, ends: this.#ends }
      : { kind: 'text', text: decoder.decode(this.#whole()) } // drops a byte order mark
    this.#chunks = []
    this.#bytes = 0
    this.#ends = null
    return line
  }

  #whole(): Buffer {
    const [first] = this.#chunks
    return this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks)
  }
}

const keptBytes = 512

/** Keeps the first and last bytes of a line that is too long. */
class HeadAndTail {
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)

  add(part: Buffer): void {
    if (this.#head.length < keptBytes)
      this.#head = Buffer.concat([this.#head, part.subarray(0, keptBytes - this.#head.length)])
    this.#tail = Buffer.concat([this.#tail, part.subarray(-keptBytes)]).subarray(-keptBytes)
  }

  get head(): string {
    return this.#head.toString('utf8')
  }

  get tail(): string {
    return this.#tail.toString('utf8')
  }
}

import { deepestNesting, outlineOf } from '../../domain/json-outline.ts'
import { jsonMistake } from './json-mistake.ts'
import { Refusal } from './refusal.ts'

/** What a request's body says. An empty one says nothing: undefined. */
export async function readJson(request: Request, largest: number): Promise<unknown> {
  const text = await readBody(request, largest)
  if (text.trim() === '') return undefined
  refuseOtherTypes(request.headers.get('content-type'))
  refuseDepths(text)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('INVALID_INPUT', `The body is not JSON: ${jsonMistake(text)}.`, {
      hint: 'Send one JSON object of named fields.',
    })
  }
}

function refuseDepths(text: string): void {
  if (!outlineOf(text).tooDeep) return
  throw new Refusal('INVALID_INPUT', `The body is nested more than ${deepestNesting} levels deep.`)
}

function refuseOtherTypes(given: string | null): void {
  const type = (given ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json') return
  const what = given === null ? 'none' : `"${given.slice(0, 100)}"`
  throw new Refusal('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be application/json, and is ${what}.`)
}

/** The text of a request's body. Fails for one that is larger than `largest` bytes, without reading on. */
export async function readBody(request: Request, largest: number): Promise<string> {
  return textOf(await readBytes(request, largest))
}

export async function readBytes(request: Request, largest: number): Promise<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > largest) throw tooLarge(`${announced} bytes`, largest)
  if (request.body === null) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of whole(request.body)) {
    size += chunk.byteLength
    if (size > largest) throw tooLarge('more', largest)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A client that leaves in the middle is no defect of ours. */
async function* whole(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw new Refusal('INVALID_INPUT', `The body ended before it was whole: ${String(error)}.`)
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal('INVALID_INPUT', 'The body is not UTF-8 text.', { hint: 'Send JSON in UTF-8.' })
  }
}

function tooLarge(size: string, largest: number): Refusal {
  return new Refusal('TOO_LARGE', `The body has ${size}; at most ${largest} bytes are read.`, {
    hint: 'Send it in several calls.',
    headers: { Connection: 'close' }, // the rest of the body is not read
  })
}

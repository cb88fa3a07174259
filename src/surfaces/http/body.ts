import { createGunzip } from 'node:zlib'
import { deepestNesting, outlineOf } from '../../kernel/json-outline.ts'
import { jsonMistake } from './json-mistake.ts'
import { Refusal } from './refusal.ts'

export interface BodyLimits {
  /** The maximum size of the unpacked text, in bytes. */
  readonly maxBytes: number
  /** The maximum of JSON values: ten thousand empty lists take few bytes but much time. */
  readonly maxValues: number
  /** The maximum size of a gzip body. */
  readonly maxPackedBytes?: number
}

/** The limits of a body on every route but the one for remote machines. */
export const bodyLimits = { maxBytes: 1_000_000, maxValues: 100_000 }

/** Parses a body as JSON; undefined for an empty body. */
export async function readJson(request: Request, limits: BodyLimits): Promise<unknown> {
  const { text, tooDeep } = await readOutlined(request, limits)
  if (text.trim() === '') return undefined
  refuseOtherTypes(request.headers.get('content-type'))
  if (tooDeep) {
    throw new Refusal('INVALID_INPUT', `The body is nested more than ${deepestNesting} levels deep.`, {
      reason: 'body_too_deep',
    })
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('INVALID_INPUT', `The body is not JSON: ${jsonMistake(text)}.`, {
      reason: 'body_not_json',
      hint: 'Send one JSON object of named fields.',
    })
  }
}

function refuseOtherTypes(given: string | null): void {
  const type = (given ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json') return
  const what = given === null ? 'none' : `"${given.slice(0, 100)}"`
  throw new Refusal('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be application/json, and is ${what}.`, {
    reason: 'content_type_unsupported',
  })
}

/** Reads a body as text. Stops reading and fails at the limits. */
export async function readText(request: Request, limits: BodyLimits): Promise<string> {
  return (await readOutlined(request, limits)).text
}

async function readOutlined(
  request: Request,
  limits: BodyLimits,
): Promise<{ readonly text: string; readonly tooDeep: boolean }> {
  const { maxBytes, maxValues, maxPackedBytes } = limits
  const isPacked = maxPackedBytes !== undefined && request.headers.get('content-encoding') === 'gzip'
  const sent = await readBytes(request, isPacked ? maxPackedBytes : maxBytes)
  const text = textOf(isPacked ? await gunzipBody(sent, maxBytes) : sent)
  const { tooDeep, values } = outlineOf(text, maxValues)
  // The reader of the text refuses what is nested too deep.
  if (!tooDeep && values > maxValues) throw bodyTooLarge('more', `${maxValues} values`)
  return { text, tooDeep }
}

async function readBytes({ body, headers }: Request, maxBytes: number): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0)
  try {
    const announced = Number(headers.get('content-length') ?? 0)
    if (announced > maxBytes) throw bodyTooLarge(`${announced} bytes`, `${maxBytes} bytes`)
    return await joinChunks(readWholeBody(body), maxBytes)
  } catch (error) {
    discardRest(body).catch(() => undefined) // the client left
    throw error
  }
}

/**
 * Reads on without keeping anything: a connection that is closed with unread data is reset,
 * and the client loses the answer. The HTTP adapter ends it after 500 ms or 64 MiB.
 */
async function discardRest(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

/** Unpacks up to the limit. */
async function gunzipBody(packed: Buffer, maxBytes: number): Promise<Buffer> {
  const unpacking = createGunzip()
  unpacking.end(packed)
  try {
    return await joinChunks(unpacking, maxBytes)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('INVALID_INPUT', 'The body is not gzip, although its Content-Encoding says so.', {
      reason: 'body_not_gzip',
    })
  } finally {
    unpacking.destroy()
  }
}

async function joinChunks(parts: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of parts) {
    size += chunk.byteLength
    if (size > maxBytes) throw bodyTooLarge('more', `${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A client that disconnects early is no defect. */
async function* readWholeBody(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body.values({ preventCancel: true })
  } catch (error) {
    throw new Refusal('INVALID_INPUT', `The body ended before it was whole: ${String(error)}.`, {
      reason: 'body_incomplete',
    })
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal('INVALID_INPUT', 'The body is not UTF-8 text.', {
      reason: 'body_encoding_invalid',
      hint: 'Send JSON in UTF-8.',
    })
  }
}

function bodyTooLarge(size: string, most: string): Refusal {
  return new Refusal('TOO_LARGE', `The body has ${size}; at most ${most} are read.`, {
    reason: 'body_too_large',
    hint: 'Send it in several calls.',
  })
}

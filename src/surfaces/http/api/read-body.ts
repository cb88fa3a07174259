import { Refusal } from '../refusal/refusal.ts'

/** The text of a request's body. Fails for one that is larger than `largest` bytes, without reading on. */
export async function readBody(request: Request, largest: number): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > largest) throw tooLarge(`${announced} bytes`, largest)
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of whole(request.body)) {
    size += chunk.byteLength
    if (size > largest) throw tooLarge('more', largest)
    chunks.push(chunk)
  }
  return textOf(Buffer.concat(chunks))
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

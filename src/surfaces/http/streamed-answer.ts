import type { Answer, QueryContext } from '../../kernel/operations/operation.ts'

/**
 * The answer of a call, or its JSON as a stream if the call writes a text that may be too long for memory. The call waits
 * for the reader, and fails when the reader leaves.
 */
export async function answerOrStream(
  call: (writeText: QueryContext['writeText']) => Promise<Answer>,
): Promise<Answer | ReadableStream> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  const send = (json: string) => writer.write(encoder.encode(json))
  const streamed = Promise.withResolvers<ReadableStream>()
  let isStreamed = false
  const answer = call(async (part) => {
    if (!isStreamed) {
      isStreamed = true
      streamed.resolve(readable)
      await send('{"text":"')
    }
    await send(JSON.stringify(part).slice(1, -1))
  })
  const sent = answer.then(async ({ text: _written, ...rest }) => {
    if (!isStreamed) return
    const fields = JSON.stringify(rest).slice(1)
    await send(fields === '}' ? '"}' : `",${fields}`)
    await writer.close()
  })
  // Without the end of the JSON, the reader knows that it has a part only.
  sent.catch((error) => writer.abort(error)).catch(() => undefined)
  return Promise.race([streamed.promise, answer])
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Answer } from '../support/project.ts'
import { Message } from './protobuf.ts'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly start: number
  readonly end: number
  readonly attributes: Answer
  readonly events: readonly { readonly name: string; readonly at: number; readonly attributes: Answer }[]
  readonly status: { readonly code: number; readonly message: string }
}

export interface Collector {
  readonly url: string
  readonly spans: readonly Span[]
  readonly resource: Answer
  readonly paths: readonly string[]
}

/** A collector of traces: real HTTP, real OTLP in protobuf. */
export async function openCollector(status = 200): Promise<Collector> {
  const spans: Span[] = []
  const paths: string[] = []
  const resource: Answer = {}
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    paths.push(request.url ?? '')
    for (const group of new Message(Buffer.concat(chunks)).messages(1)) {
      Object.assign(resource, attributesOf(group.messages(1)[0], 1))
      for (const scope of group.messages(2)) spans.push(...scope.messages(2).map(spanOf))
    }
    response.writeHead(status).end()
  }
  const server = createServer((request, response) => void receive(request, response))
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  return { url: `http://127.0.0.1:${port}`, spans, resource, paths }
}

function spanOf(span: Message): Span {
  const [status] = span.messages(15)
  return {
    traceId: span.bytes(1).toString('hex'),
    spanId: span.bytes(2).toString('hex'),
    parentSpanId: span.bytes(4).toString('hex'),
    name: span.bytes(5).toString(),
    start: milliseconds(span.number(7)),
    end: milliseconds(span.number(8)),
    attributes: attributesOf(span, 9),
    events: span.messages(11).map((event) => ({
      name: event.bytes(2).toString(),
      at: milliseconds(event.number(1)),
      attributes: attributesOf(event, 3),
    })),
    status: { code: Number(status?.number(3) ?? 0), message: status?.bytes(2).toString() ?? '' },
  }
}

function attributesOf(message: Message | undefined, field: number): Answer {
  const pairs = (message?.messages(field) ?? []).map((pair) => {
    const [value] = pair.messages(2)
    return [pair.bytes(1).toString(), value ? plainValue(value) : null]
  })
  return Object.fromEntries(pairs)
}

function plainValue(value: Message): Answer {
  if (value.has(1)) return value.bytes(1).toString()
  if (value.has(2)) return value.number(2) === 1n
  if (value.has(3)) return Number(value.number(3))
  if (value.has(5)) return value.messages(5).flatMap((list) => list.messages(1).map(plainValue))
  throw new Error('a value of a kind that is not known here')
}

function milliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n)
}

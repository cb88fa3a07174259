import { Console } from 'node:console'
import { type Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { LineSplitter, readLine } from './lines.ts'
import { JournalFeed } from './resources/journal-feed.ts'
import { listenRequests, Watch } from './resources/subscriptions.ts'
import { createServer } from './server.ts'
import type { Surface } from './surface.ts'
import { CallOrder } from './tools/call-order.ts'
import { offeredTools } from './tools/tool-list.ts'

/**
 * Serves MCP on standard input and output, in both eras of the protocol. Resolves when the client has left and what it
 * asked for is done and answered; closing the store is the caller's.
 */
export async function serveMcpOverStdio(
  surface: Surface,
  streams: StdioStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  keepOutputForProtocol(surface.log)
  process.on('unhandledRejection', (reason) => {
    surface.log(`Unhandled: ${reason instanceof Error ? reason.stack : String(reason)}`)
  })
  const tools = offeredTools(surface)
  const turns = new CallOrder()
  const watch = new Watch(
    new JournalFeed({ store: () => surface.contextOf(undefined).store, log: surface.log }),
  )
  const { promise: clientLeft, resolve: finished } = Promise.withResolvers<void>()
  const transport = new StdioTransport(streams, { ...listenRequests({ watch, log: surface.log }), finished })
  const handle = serveStdio(({ era }) => createServer(surface, { era, tools, turns, watch }), {
    transport,
    onerror: (error) => surface.log(`MCP: ${error.message}`),
  })
  await clientLeft
  watch.stop()
  await handle.close() // ends open subscriptions in good form
  await turns.idle()
}

/** Whatever a library prints would break the protocol: it goes to standard error. */
function keepOutputForProtocol(log: Surface['log']): void {
  const told = new Writable({
    write: (chunk, _encoding, done) => {
      log(String(chunk).trimEnd())
      done()
    },
  })
  globalThis.console = new Console(told)
}

/** Counts the requests that still wait for an answer. */
class Unanswered {
  readonly #waiting = new Map<RequestId, number>()
  #whenNone: (() => void)[] = []

  /** Notes a message from the client. A subscription is answered only when it ends, and so is none to wait for. */
  received(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      if (message.method !== 'subscriptions/listen') this.#add(message.id, 1)
      return
    }
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined
    if (typeof cancelled === 'string' || typeof cancelled === 'number') this.#add(cancelled, -1)
  }

  /** Notes a message to the client. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#add(message.id, -1)
  }

  /** Resolves once every request was answered or cancelled. */
  async none(): Promise<void> {
    if (this.#waiting.size === 0) return
    await new Promise<void>((resolve) => this.#whenNone.push(resolve))
  }

  /** The other side is gone: nobody waits for anything. */
  forget(): void {
    this.#waiting.clear()
    this.#release()
  }

  #add(id: RequestId, difference: 1 | -1): void {
    const count = (this.#waiting.get(id) ?? 0) + difference
    if (count > 0) this.#waiting.set(id, count)
    else this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#release()
  }

  #release(): void {
    const waiting = this.#whenNone
    this.#whenNone = []
    for (const resolve of waiting) resolve()
  }
}

const longestLine = 10 * 1024 * 1024

export interface StdioStreams {
  readonly input: Readable
  readonly output: Writable
}

/** What happens on the line besides messages. */
export interface StdioEvents {
  /** Before a message is written. */
  beforeSend(message: JSONRPCMessage): Promise<void>
  received(message: JSONRPCMessage): void
  /** The client sent its last line and every request of it was answered, or the client is gone. */
  finished(): void
}

/**
 * Newline-delimited JSON over two streams. Unlike the SDK's own transport it answers lines that are no message,
 * survives lines of any length, and answers what is in flight when the input ends.
 */
class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #streams: StdioStreams
  readonly #events: StdioEvents
  readonly #splitter = new LineSplitter(longestLine)
  readonly #unanswered = new Unanswered()
  #closed = false
  #gone = false

  constructor(streams: StdioStreams, events: StdioEvents) {
    this.#streams = streams
    this.#events = events
  }

  start(): Promise<void> {
    const { input, output } = this.#streams
    input.on('data', this.#onData)
    input.on('end', this.#onEnd)
    input.on('error', this.#onGone)
    output.on('error', this.#onGone)
    return Promise.resolve()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#events.beforeSend(message)
    if (!this.#gone) this.#streams.output.write(`${JSON.stringify(message)}\n`)
    this.#unanswered.sent(message)
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#closed = true
    const { input } = this.#streams
    input.off('data', this.#onData)
    input.off('end', this.#onEnd)
    input.destroy() // lets the process end although the other side keeps the line open
    this.#unanswered.forget()
    this.onclose?.()
    return Promise.resolve()
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#splitter.take(chunk)) this.#onLine(line)
  }

  readonly #onEnd = (): void => {
    for (const line of this.#splitter.rest()) this.#onLine(line)
    void this.#unanswered.none().then(() => this.#events.finished())
  }

  // EPIPE, for instance: nobody reads the answers any more, so there is nobody to tell either.
  readonly #onGone = (): void => {
    this.#gone = true
    this.#unanswered.forget()
    this.#events.finished()
  }

  #onLine(line: Parameters<typeof readLine>[0]): void {
    const read = readLine(line)
    if (read.kind === 'empty') return
    if (read.kind === 'refused') {
      void this.send(read.answer)
      return
    }
    this.#unanswered.received(read.message)
    this.#events.received(read.message)
    this.onmessage?.(read.message)
  }
}

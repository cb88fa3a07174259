import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { LineSplitter } from './lines/line-splitter.ts'
import { readLine } from './lines/read-line.ts'
import { Unanswered } from './unanswered.ts'

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
export class StdioTransport implements Transport {
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

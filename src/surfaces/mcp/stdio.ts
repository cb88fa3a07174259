import { Console } from 'node:console'
import { type Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/server'
import { answerToInitialize, type ServerIntroduction } from './introduction.ts'
import { type InputLine, LineSplitter, readLine } from './lines.ts'
import type { Surface } from './surface.ts'

export interface StdioServerOptions extends ServerIntroduction {
  readonly log: Surface['log']
  /** Loads the surface after the first answer, for which a client waits. */
  readonly open: () => Promise<(transport: StdioTransport) => { end(): Promise<void> }>
}

/**
 * Serves MCP on standard input and output, in both eras of the protocol. Resolves when the client has disconnected and its
 * requests are answered. The caller closes the store.
 */
export async function serveMcpOverStdio(
  { open, log, ...introduced }: StdioServerOptions,
  streams: StdioStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  keepOutputForProtocol(log)
  process.on('unhandledRejection', (reason) => log('An error was not handled:', reason))
  const transport = new StdioTransport(streams, introduced)
  if (!(await transport.listen())) return
  const connect = await open()
  const connection = connect(transport)
  await transport.whenFinished()
  await connection.end()
}

/** Redirects the console to standard error: output of libraries would break the protocol. */
function keepOutputForProtocol(log: Surface['log']): void {
  const logStream = new Writable({
    write: (chunk, _encoding, done) => {
      log(String(chunk).trimEnd())
      done()
    },
  })
  globalThis.console = new Console(logStream)
}

/** Counts the unanswered requests. */
class PendingRequests {
  readonly #waiting = new Map<RequestId, number>()
  #whenNone: (() => void)[] = []

  /** Notes a message from the client. Subscriptions are not counted: they are answered only at their end. */
  noteReceived(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      if (message.method !== 'subscriptions/listen') this.#add(message.id, 1)
      return
    }
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined
    if (typeof cancelled === 'string' || typeof cancelled === 'number') this.#add(cancelled, -1)
  }

  /** Notes a message to the client. */
  noteSent(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#add(message.id, -1)
  }

  /** Resolves when every request is answered or canceled. */
  async none(): Promise<void> {
    if (this.#waiting.size === 0) return
    await new Promise<void>((resolve) => this.#whenNone.push(resolve))
  }

  /** The client is gone: no request waits any more. */
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

const maxLineLength = 10 * 1024 * 1024

export interface StdioStreams {
  readonly input: Readable
  readonly output: Writable
}

/** The callbacks of the transport. */
export interface StdioEvents {
  /** Called before a message is written. */
  beforeSend(message: JSONRPCMessage): Promise<void>
  noteReceived(message: JSONRPCMessage): void
}

/**
 * Newline-delimited JSON over two streams. Unlike the SDK's own transport it answers invalid lines, accepts lines of any
 * length, and answers running requests after the end of the input. It starts before the SDK is loaded: it answers an
 * ordinary `initialize` itself, and buffers messages for the SDK.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #streams: StdioStreams
  readonly #introduced: ServerIntroduction
  readonly #splitter = new LineSplitter(maxLineLength)
  readonly #unanswered = new PendingRequests()
  readonly #begun = Promise.withResolvers<boolean>()
  readonly #finished = Promise.withResolvers<void>()
  #events: StdioEvents | null = null
  /** The messages for the SDK until it is loaded; null afterwards. */
  #buffered: JSONRPCMessage[] | null = []
  #isInitialized = false
  /** The answered `initialize`, until the SDK has answered it too. */
  #answered: RequestId | null = null
  #closed = false
  #gone = false

  constructor(streams: StdioStreams, introduced: ServerIntroduction) {
    this.#streams = streams
    this.#introduced = introduced
  }

  /** Begins to read. Resolves with true at the first message, or with false if the client sent none. */
  listen(): Promise<boolean> {
    const { input, output } = this.#streams
    input.on('data', this.#onData)
    input.on('end', this.#onEnd)
    input.on('error', this.#onGone)
    output.on('error', this.#onGone)
    return this.#begun.promise
  }

  /** Resolves when the input has ended and every request is answered, or the client is gone. */
  whenFinished(): Promise<void> {
    return this.#finished.promise
  }

  observe(events: StdioEvents): void {
    this.#events = events
  }

  start(): Promise<void> {
    const buffered = this.#buffered ?? []
    this.#buffered = null
    for (const message of buffered) this.#deliver(message)
    return Promise.resolve()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#answered !== null && isAnswerTo(this.#answered, message)) {
      this.#answered = null
      return
    }
    await this.#events?.beforeSend(message)
    this.#write(message)
    this.#unanswered.noteSent(message)
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#closed = true
    const { input } = this.#streams
    input.off('data', this.#onData)
    input.off('end', this.#onEnd)
    input.destroy() // lets the process end even if the client keeps the stream open
    this.#unanswered.forget()
    this.onclose?.()
    return Promise.resolve()
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#splitter.take(chunk)) this.#onLine(line)
  }

  readonly #onEnd = (): void => {
    for (const line of this.#splitter.rest()) this.#onLine(line)
    if (this.#buffered?.length === 0) this.#begun.resolve(false)
    void this.#unanswered.none().then(this.#finished.resolve)
  }

  // For example EPIPE: nobody reads the answers, so there is nobody to inform.
  readonly #onGone = (): void => {
    this.#gone = true
    this.#unanswered.forget()
    this.#begun.resolve(false)
    this.#finished.resolve()
  }

  #onLine(line: InputLine): void {
    const read = readLine(line)
    if (read.kind === 'empty') return
    if (read.kind === 'refused') {
      void this.send(read.answer)
      return
    }
    const { message } = read
    if (this.#buffered?.length === 0) this.#begin(message)
    else if (this.#isInitialized && isPing(message))
      this.#write({ jsonrpc: '2.0', id: message.id, result: {} })
    else this.#take(message)
  }

  /** Answers an ordinary `initialize` as first message, then lets the SDK load. */
  #begin(message: JSONRPCMessage): void {
    const answer = answerToInitialize(message, this.#introduced)
    if (answer === null) this.#take(message)
    else {
      this.#write(answer)
      this.#isInitialized = true
      this.#answered = answer.id
      this.#buffered?.push(message)
    }
    setImmediate(() => this.#begun.resolve(true)) // the answer is sent first
  }

  #take(message: JSONRPCMessage): void {
    this.#unanswered.noteReceived(message)
    if (this.#buffered) this.#buffered.push(message)
    else this.#deliver(message)
  }

  #deliver(message: JSONRPCMessage): void {
    this.#events?.noteReceived(message)
    this.onmessage?.(message)
  }

  #write(message: JSONRPCMessage): void {
    if (!this.#gone) this.#streams.output.write(`${JSON.stringify(message)}\n`)
  }
}

/** Only the older revisions have `initialize`. */
function isPing(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'id' in message && 'method' in message && message.method === 'ping'
}

function isAnswerTo(id: RequestId, message: JSONRPCMessage): boolean {
  return !('method' in message) && message.id === id
}

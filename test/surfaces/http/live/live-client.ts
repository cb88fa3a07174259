import { EventEmitter, on } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import type { Answer } from '../../../support/project.ts'

/** A client that keeps every frame it gets. */
export class LiveClient {
  readonly socket: WebSocket
  readonly frames: Answer[] = []
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly #changes = new EventEmitter()

  constructor(port: number, query = '', options: ClientOptions = {}) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}/ws${query}`, options)
    this.socket.on('error', () => undefined)
    this.socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()))
      this.#changes.emit('change')
    })
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) })
        this.#changes.emit('change')
      })
    })
  }

  /** The frames of log entries, without greetings. */
  get events(): readonly Answer[] {
    return this.frames.filter(({ n }) => n !== undefined)
  }

  get seqs(): readonly number[] {
    return [...new Set(this.events.map(({ seq }) => seq))]
  }

  /** The first frame once there is one. */
  async hello(): Promise<Answer> {
    await this.until(() => this.frames.length > 0)
    return this.frames[0]
  }

  /** Waits until the log entry of a position arrived, and gives the events. */
  async upTo(seq: number): Promise<readonly Answer[]> {
    await this.until(() => (this.frames.at(-1)?.n === undefined ? 0 : this.frames.at(-1).seq) >= seq)
    return this.events
  }

  async until(isDone: () => boolean): Promise<void> {
    if (isDone()) return
    for await (const _ of on(this.#changes, 'change')) {
      if (isDone()) return
      if (this.socket.readyState === WebSocket.CLOSED) {
        const { code, reason } = await this.closed
        throw new Error(`the connection closed: ${code} ${reason}`)
      }
    }
  }

  end(): void {
    this.socket.terminate()
  }
}

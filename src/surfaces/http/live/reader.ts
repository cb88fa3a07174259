import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { ProjectEventFrames } from './frames.ts'

const look = 50

/** One connection: how far it was told, and how much of that still waits to be sent. */
export class LiveReader {
  readonly #socket: WebSocket
  readonly #connection: Duplex
  readonly #limits: LiveLimits
  #answered = true
  /** The last log entry that was sent whole. */
  position = 0
  /** Facts are sent as they happen; otherwise the reader is catching up. */
  isLive = false

  constructor(socket: WebSocket, connection: Duplex, limits: LiveLimits) {
    this.#socket = socket
    this.#connection = connection
    this.#limits = limits
    const answered = () => {
      this.#answered = true
    }
    socket.on('pong', answered).on('ping', answered).on('message', answered)
    // A frame that is too long or malformed: ws closes the connection with its own code.
    socket.on('error', () => undefined)
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  get isFull(): boolean {
    return this.#socket.bufferedAmount > this.#limits.waiting
  }

  whenClosed(closed: () => void): void {
    this.#socket.once('close', closed)
  }

  say(message: Readonly<Record<string, unknown>>): void {
    this.#socket.send(JSON.stringify(message))
  }

  /** Sends the log entries after its position, in one write, up to what may wait. Whole log entries only. */
  take(events: readonly ProjectEventFrames[]): void {
    this.#connection.cork()
    for (const { seq, frames } of events) {
      if (seq <= this.position) continue
      if (!this.isOpen || this.isFull) break
      for (const frame of frames) this.#socket.send(frame, { binary: false })
      this.position = seq
    }
    this.#connection.uncork()
  }

  /** Waits until there is room again; false when that took too long. */
  async drained(): Promise<boolean> {
    const deadline = performance.now() + this.#limits.drain
    while (this.isOpen && this.#socket.bufferedAmount > this.#limits.waiting / 2) {
      if (performance.now() > deadline) return false
      await sleep(look)
    }
    return true
  }

  ping(): void {
    if (!this.#answered) {
      this.#socket.terminate()
      return
    }
    this.#answered = false
    if (this.isOpen) this.#socket.ping()
  }

  /** The reason may have 123 bytes. */
  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }
}

/** What the live feed holds its readers to. Times are in milliseconds, sizes in bytes. */
export interface LiveLimits {
  readonly readers: number
  /** What may wait for one reader; beyond it nothing more is sent until it has read. */
  readonly waiting: number
  /** How long a reader may take to read what waits for it. */
  readonly drain: number
  /** Between two pings; who did not answer the one before is gone. */
  readonly ping: number
  /** How many log entries behind a reader may come back; further behind, reading the project anew is cheaper. */
  readonly behind: number
}

export const liveLimits: LiveLimits = {
  readers: 1_000,
  waiting: 1_000_000,
  drain: 60_000,
  ping: 25_000,
  behind: 10_000,
}

/** Close codes of our own, from the range that is free for it. */
export const closeCodes = {
  badSince: 4400,
  /** The token was removed, or the login ended. */
  revoked: 4401,
  slow: 4408,
  reload: 4409,
  /** The server ends, of RFC 6455. */
  goingAway: 1001,
  /** Come back later: too many readers, or the database cannot be read. */
  later: 1013,
} as const

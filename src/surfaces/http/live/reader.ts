import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { ProjectEventFrames } from './frames.ts'

const pollEveryMs = 50

/** One connection with its position and its unsent data. */
export class LiveReader {
  readonly #socket: WebSocket
  readonly #connection: Duplex
  readonly #limits: LiveLimits
  #answered = true
  /** The last log entry that was sent completely. */
  position = 0
  /** Gets log entries as they happen; otherwise it is catching up. */
  isLive = false

  constructor(socket: WebSocket, connection: Duplex, limits: LiveLimits) {
    this.#socket = socket
    this.#connection = connection
    this.#limits = limits
    const noteAnswer = () => {
      this.#answered = true
    }
    socket.on('pong', noteAnswer).on('ping', noteAnswer).on('message', noteAnswer)
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

  /** Sends whole log entries after its position in one write, up to the limit of unsent data. */
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

  /** Waits until there is room again; false after a timeout. */
  async waitForRoom(): Promise<boolean> {
    const deadline = performance.now() + this.#limits.drain
    while (this.isOpen && this.#socket.bufferedAmount > this.#limits.waiting / 2) {
      if (performance.now() > deadline) return false
      await sleep(pollEveryMs)
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

/** The limits of readers of the live feed. Times are in milliseconds, sizes in bytes. */
export interface LiveLimits {
  readonly readers: number
  /** The maximum of unsent data for one reader; more is sent after it has read. */
  readonly waiting: number
  /** The time that a reader has to read its data. */
  readonly drain: number
  /** The interval of pings; a reader that missed the last one is gone. */
  readonly ping: number
  /** The maximum of missed log entries; beyond it a reload is cheaper. */
  readonly behind: number
}

export const liveLimits: LiveLimits = {
  readers: 1_000,
  waiting: 1_000_000,
  drain: 60_000,
  ping: 25_000,
  behind: 10_000,
}

/** Our close codes, from the private range. */
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

import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseFile } from './sqlite/database-file.ts'
import type { OpenConnection } from './sqlite/dialect.ts'
import { numberOf } from './sqlite/open-connection.ts'
import { patiently } from './sqlite/patience.ts'

// Milliseconds between two looks at a counter in the file; nothing is read while it stands still.
const interval = 25

/** The file as it was found: another beat means that something was committed since, or that it is another file. */
export interface Beat {
  /** Null while there is no database. */
  readonly connection: OpenConnection | null
  readonly version: number
}

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Looks at a database for all who follow it, over a connection of its own that is closed at the end. */
export class Pulse {
  readonly #database: DatabaseFile
  readonly #ending = new AbortController()
  readonly #waiting = new Set<Waiting>()
  readonly #beating: Promise<void>
  #beat: Beat | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(file: string) {
    this.#database = new DatabaseFile(file, false)
    this.#beating = this.#run()
  }

  get isDead(): boolean {
    return this.#failure !== null
  }

  /** The beat after one that was seen already; null when the signal aborts. */
  async after(seen: Beat | null, signal: AbortSignal): Promise<Beat | null> {
    while (!signal.aborted) {
      if (this.#failure) throw this.#failure.error
      if (this.#beat && this.#beat !== seen) return this.#beat
      await this.#change(signal)
    }
    return null
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#beating
  }

  async #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { resolve: () => resolve(), reject }
    this.#waiting.add(waiting)
    signal.addEventListener('abort', waiting.resolve, { once: true })
    try {
      await promise
    } finally {
      this.#waiting.delete(waiting)
      signal.removeEventListener('abort', waiting.resolve)
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    try {
      while (!signal.aborted) {
        await this.#look()
        await sleep(interval, undefined, { signal }).catch(() => undefined)
      }
    } catch (error) {
      this.#failure = { error }
      for (const { reject } of this.#waiting) reject(error)
    } finally {
      await this.#database.forget()
    }
  }

  async #look(): Promise<void> {
    const connection = await this.#database.forReading()
    const version = connection ? await patiently(() => numberOf(connection.raw, 'data_version')) : -1
    if (this.#beat?.connection === connection && this.#beat.version === version) return
    this.#beat = { connection, version }
    for (const { resolve } of this.#waiting) resolve()
  }
}

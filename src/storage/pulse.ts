import { DatabaseFile } from './sqlite/database-file.ts'
import type { OpenConnection } from './sqlite/dialect.ts'
import { numberOf } from './sqlite/open-connection.ts'
import { patiently } from './sqlite/patience.ts'

// Milliseconds between two looks at a counter in the file; nothing is read while it stands still.
const interval = 25
// Every so many looks it is made sure that the file is still the same, and still ours.
const looksPerFile = 10

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
        await this.#quiet(signal)
      }
    } catch (error) {
      this.#failure = { error }
      for (const { reject } of this.#waiting) reject(error)
    } finally {
      await this.#database.forget()
    }
  }

  /** Until something was committed, or it is time to look at the file itself. Looking in vain must cost next to nothing. */
  #quiet(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let looks = 0
      const looking = setInterval(() => {
        looks += 1
        if (looks < looksPerFile && this.#stands()) return
        end()
      }, interval)
      const end = () => {
        clearInterval(looking)
        signal.removeEventListener('abort', end)
        resolve()
      }
      if (signal.aborted) end()
      else signal.addEventListener('abort', end)
    })
  }

  #stands(): boolean {
    if (!this.#beat?.connection) return false
    try {
      return numberOf(this.#beat.connection.raw, 'data_version') === this.#beat.version
    } catch {
      return false // busy, or worse: the thorough look tells
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

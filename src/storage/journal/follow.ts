import type { Fact } from '../../domain/fact.ts'
import { type ProjectPlace, resolveProject } from '../record/project.ts'
import { numberOf } from '../sqlite/connection.ts'
import { DatabaseFile } from '../sqlite/database-file.ts'
import { ConnectionRetired, type OpenConnection } from '../sqlite/driver.ts'
import { patiently } from '../sqlite/waiting.ts'
import { readsOf } from '../tables/reads.ts'

const batch = 500

/** Those who follow one project. However many they are, the file is looked at once, and what is new is read once. */
export class Followers {
  readonly #file: string
  readonly #place: ProjectPlace
  readonly #readings = new Map<number, Reading>()
  #changes: ChangeSignal | null = null
  #count = 0

  constructor(file: string, place: ProjectPlace) {
    this.#file = file
    this.#place = place
  }

  /** Facts after `after`, whichever process commits them, in batches as they are found. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<readonly Fact[]> {
    const changes = this.#join()
    let position = after
    let seen: FileState | null = null
    try {
      for (;;) {
        const state = await changes.after(seen, signal)
        if (!state) return
        const facts = await this.#after(position, state)
        // A person restored a backup: nothing that was told is taken back, and what is new comes after it.
        if (facts.length === 0 && state.connection) position = Math.min(position, await this.#end(state))
        if (signal.aborted) return
        if (facts.length > 0) yield facts
        position = facts.at(-1)?.seq ?? position
        if (facts.length < batch) seen = state
      }
    } finally {
      await this.#leave(changes)
    }
  }

  #join(): ChangeSignal {
    if (!this.#changes || this.#changes.isDead) {
      this.#changes = new ChangeSignal(this.#file)
      this.#count = 0
    }
    this.#count += 1
    return this.#changes
  }

  async #leave(changes: ChangeSignal): Promise<void> {
    // Of one that died, nobody is left to be counted.
    if (changes !== this.#changes) return
    this.#count -= 1
    if (this.#count > 0) return
    this.#changes = null
    await changes.stop()
  }

  /**
   * Followers that wake together and are equally far share one reading. One that began before the state is not shared:
   * it may not see what the state is about.
   */
  #after(position: number, state: FileState): Promise<readonly Fact[]> {
    const known = this.#readings.get(position)
    if (known?.state === state) return known.facts
    const facts = this.#read(state, position).finally(() => {
      if (this.#readings.get(position)?.facts === facts) this.#readings.delete(position)
    })
    this.#readings.set(position, { state, facts })
    return facts
  }

  /** Where the journal ends; nowhere while there is none. */
  async #end({ connection }: FileState): Promise<number> {
    if (!connection) return Number.POSITIVE_INFINITY
    try {
      return await endOf(connection, this.#place)
    } catch (error) {
      if (error instanceof ConnectionRetired) return Number.POSITIVE_INFINITY
      throw error
    }
  }

  async #read({ connection }: FileState, position: number): Promise<readonly Fact[]> {
    if (!connection) return []
    try {
      return await factsAfter(connection, this.#place, position)
    } catch (error) {
      // The file was replaced: the next state is about the new one.
      if (error instanceof ConnectionRetired) return []
      throw error
    }
  }
}

interface Reading {
  readonly state: FileState
  readonly facts: Promise<readonly Fact[]>
}

function endOf({ db }: OpenConnection, place: ProjectPlace): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    const project = await resolveProject(transaction, place)
    if (!project) return Number.POSITIVE_INFINITY
    return readsOf({ db: transaction, projectId: project.id }).journal.head()
  })
}

function factsAfter({ db }: OpenConnection, place: ProjectPlace, after: number): Promise<readonly Fact[]> {
  return db.transaction().execute(async (transaction) => {
    const project = await resolveProject(transaction, place)
    if (!project) return []
    return readsOf({ db: transaction, projectId: project.id }).journal.since(after, batch)
  })
}

// Milliseconds between two looks at a counter in the file; nothing is read while it stands still.
const interval = 10
// Every so many looks it is made sure that the file is still the same, and still ours.
const looksPerFile = 25

/** The file as it was found: another state means that something was committed since, or that it is another file. */
export interface FileState {
  /** Null while there is no database. */
  readonly connection: OpenConnection | null
  readonly version: number
}

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Looks at a database for all who follow it, over a connection of its own that is closed at the end. */
export class ChangeSignal {
  readonly #database: DatabaseFile
  readonly #ending = new AbortController()
  readonly #waiting = new Set<Waiting>()
  readonly #looking: Promise<void>
  #state: FileState | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(file: string) {
    this.#database = new DatabaseFile(file, false)
    this.#looking = this.#run()
  }

  get isDead(): boolean {
    return this.#failure !== null
  }

  /** The state after one that was seen already; null when the signal aborts. */
  async after(seen: FileState | null, signal: AbortSignal): Promise<FileState | null> {
    while (!signal.aborted) {
      if (this.#failure) throw this.#failure.error
      if (this.#state && this.#state !== seen) return this.#state
      await this.#change(signal)
    }
    return null
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#looking
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
    if (!this.#state?.connection) return false
    try {
      return numberOf(this.#state.connection.raw, 'data_version') === this.#state.version
    } catch {
      return false // busy, or worse: the thorough look tells
    }
  }

  async #look(): Promise<void> {
    const connection = await this.#database.forReading()
    const version = connection ? await patiently(() => numberOf(connection.raw, 'data_version')) : -1
    if (this.#state?.connection === connection && this.#state.version === version) return
    this.#state = { connection, version }
    for (const { resolve } of this.#waiting) resolve()
  }
}

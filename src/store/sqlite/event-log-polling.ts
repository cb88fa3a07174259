import type { ChangeSource, FollowableLog } from '../../events/log/follow.ts'
import type { Reads } from '../ports/store.ts'
import { type ProjectLocation, resolveProject } from '../record/project.ts'
import { readsOf } from '../tables/reads.ts'
import { numberOf } from './connection.ts'
import { DatabaseFile } from './database-file.ts'
import { ConnectionRetired, type OpenConnection } from './driver.ts'
import { retryWhileLocked } from './lock-retry.ts'

/** Follows the log of one project in a file by polling a counter every `interval` milliseconds; reads only after changes. */
export function eventLogIn(
  file: string,
  place: ProjectLocation,
  interval = 10,
): FollowableLog<DatabaseFileState> {
  return {
    changes: () => new ChangeSignal(file, interval),
    since: async ({ connection }, position, limit) =>
      (await readWithConnection(connection, place, ({ eventLog: log }) => log.since(position, limit))) ?? [],
    end: async ({ connection }) =>
      (await readWithConnection(connection, place, ({ eventLog: log }) => log.head())) ??
      Number.POSITIVE_INFINITY,
  }
}

/** Null without a project, or if the file was replaced: the next state is about the new file. */
async function readWithConnection<Answer>(
  connection: OpenConnection | null,
  place: ProjectLocation,
  question: (reads: Reads) => Promise<Answer>,
): Promise<Answer | null> {
  if (!connection) return null
  try {
    return await connection.db.transaction().execute(async (db) => {
      const project = await resolveProject(db, place)
      return project && (await question(readsOf({ db, projectId: project.id })))
    })
  } catch (error) {
    if (error instanceof ConnectionRetired) return null
    throw error
  }
}

// After this many polls, checks that the file is still the same and still Waymark's.
const pollsPerFileCheck = 25

/** The state of the file: another state means a commit or another file. */
export interface DatabaseFileState {
  /** Null if there is no database. */
  readonly connection: OpenConnection | null
  readonly version: number
}

interface WaitHandle {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Polls a database for all its followers, over its own connection that is closed at the end. */
class ChangeSignal implements ChangeSource<DatabaseFileState> {
  readonly #database: DatabaseFile
  readonly #interval: number
  readonly #ending = new AbortController()
  readonly #waiting = new Set<WaitHandle>()
  readonly #looking: Promise<void>
  #state: DatabaseFileState | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(file: string, interval: number) {
    this.#database = new DatabaseFile(file, false)
    this.#interval = interval
    this.#looking = this.#run()
  }

  get isDead(): boolean {
    return this.#failure !== null
  }

  /** The next state after a known one; null when the signal aborts. */
  async after(seen: DatabaseFileState | null, signal: AbortSignal): Promise<DatabaseFileState | null> {
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
        await this.#checkFile()
        await this.#waitForChange(signal)
      }
    } catch (error) {
      this.#failure = { error }
      for (const { reject } of this.#waiting) reject(error)
    } finally {
      await this.#database.forget()
    }
  }

  /** Resolves after a commit, or when the file must be checked. Polling without changes must be cheap. */
  #waitForChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let polls = 0
      const timer = setInterval(() => {
        polls += 1
        if (polls < pollsPerFileCheck && this.#isUnchanged()) return
        end()
      }, this.#interval)
      const end = () => {
        clearInterval(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      if (signal.aborted) end()
      else signal.addEventListener('abort', end)
    })
  }

  #isUnchanged(): boolean {
    if (!this.#state?.connection) return false
    try {
      return numberOf(this.#state.connection.raw, 'data_version') === this.#state.version
    } catch {
      return false // busy or failing: the file check reports it
    }
  }

  async #checkFile(): Promise<void> {
    const connection = await this.#database.forReading()
    const version = connection ? await retryWhileLocked(() => numberOf(connection.raw, 'data_version')) : -1
    if (this.#state?.connection === connection && this.#state.version === version) return
    this.#state = { connection, version }
    for (const { resolve } of this.#waiting) resolve()
  }
}

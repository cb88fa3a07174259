import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Client } from 'pg'
import type { ChangeSource } from '../../events/log/follow.ts'
import { wait } from '../../kernel/wait.ts'
import type { Tables } from '../tables/tables.ts'
import type { PostgresDatabase } from './database.ts'
import { clientConfig } from './database-url.ts'
import { errorReaction, serverUnavailable } from './errors.ts'

const channel = 'waymark'
// Whoever is not told looks by themselves, so that the disk is not waited for: it would hold up the commits beside it.
const notify = `set local synchronous_commit = off; select pg_notify('${channel}', '')`
/** Milliseconds between two looks while nobody tells of changes, and while somebody does. */
const unheard = 25
const heard = 1000
/** Between two looks for a project that was never written to. */
const absent = 250
/** Before LISTEN is tried again: where the connection ended, and where nothing is heard over it. */
const lost = 100
const deaf = 10_000
/** Between two notifications of one process. */
const quiet = 10

/** How far a project has come: another object means that something was committed since. */
export interface LiveProjectState {
  readonly db: PostgresDatabase
  readonly projectId: string | null
  readonly seq: number
}

interface LiveSubscription {
  readonly find: (db: Kysely<Tables>) => Promise<string | null>
  projectId: string | null
  tell(state: LiveProjectState): void
  fail(error: unknown): void
  state: LiveProjectState | null
}

/**
 * Looks at a database for all who follow one of its projects: one statement for all of them. What is committed anywhere
 * is told by LISTEN; the look alone finds it as well.
 */
export class LiveWatcher {
  readonly #database: PostgresDatabase
  readonly #followed = new Set<LiveSubscription>()
  readonly #ending = new AbortController()
  #running: Promise<void> | null = null
  #wake: () => void = () => undefined
  #isWoken = false
  #isListening = false
  #notified = 0
  #notifying: NodeJS.Timeout | null = null

  constructor(database: PostgresDatabase) {
    this.#database = database
  }

  /** Something was committed here: those who follow in this process look at once, and the others are told. */
  committed(): void {
    this.#look()
    if (this.#notifying !== null || this.#ending.signal.aborted) return
    const wait = Math.max(0, this.#notified + quiet - performance.now())
    this.#notifying = setTimeout(() => {
      this.#notifying = null
      this.#notified = performance.now()
      // Whoever is not told finds it at the next look.
      this.#database.ask(notify).catch(() => undefined)
    }, wait)
  }

  changes(find: LiveSubscription['find']): ChangeSource<LiveProjectState> {
    const change = new ChangeWaiter()
    const followed: LiveSubscription = {
      find,
      projectId: null,
      state: null,
      tell: (state) => change.tell(state),
      fail: (error) => change.fail(error),
    }
    this.#followed.add(followed)
    this.#begin()
    this.#look()
    return {
      get isDead() {
        return change.failure !== null
      },
      after: (seen, signal) => change.after(seen, signal),
      stop: async () => {
        this.#followed.delete(followed)
        this.#look()
      },
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    if (this.#notifying !== null) {
      clearTimeout(this.#notifying)
      await this.#database.ask(notify).catch(() => undefined)
    }
    this.#look()
    await this.#running
  }

  /** Who joins while the last run ends, which takes a moment, is looked for by the next one. */
  #begin(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      if (!this.#isOver) this.#begin()
    })
  }

  #look(): void {
    this.#isWoken = true
    this.#wake()
  }

  get #isOver(): boolean {
    return this.#ending.signal.aborted || this.#followed.size === 0
  }

  async #run(): Promise<void> {
    const listening = new AbortController()
    const listener = this.#listen(listening.signal)
    try {
      while (!this.#isOver) {
        this.#isWoken = false
        await this.#lookAtAll()
        await this.#pause()
      }
    } finally {
      listening.abort()
      await listener
    }
  }

  async #pause(): Promise<void> {
    if (this.#isWoken) return
    const isAnyAbsent = [...this.#followed].some(({ projectId }) => projectId === null)
    const longest = this.#isListening ? heard : unheard
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, isAnyAbsent ? Math.min(longest, absent) : longest)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }

  async #lookAtAll(): Promise<void> {
    try {
      await this.#database.transaction('read', async ({ db }) => {
        for (const followed of this.#followed) followed.projectId ??= await followed.find(db)
        await this.#tellEach(db)
      })
    } catch (error) {
      // A database that is away comes back, and what was missed is read then.
      if (errorReaction(error) === 'refused') {
        for (const followed of this.#followed)
          followed.fail(serverUnavailable(error, this.#database.place.shown))
      } else await sleep(100)
    }
  }

  async #tellEach(db: Kysely<Tables>): Promise<void> {
    const ids = [...new Set([...this.#followed].flatMap(({ projectId }) => projectId ?? []))]
    const { rows } =
      ids.length === 0
        ? { rows: [] }
        : await sql<{ readonly id: string; readonly seq: number }>`
            select id, seq from project where id = any(${ids})`.execute(db)
    const seqOf = new Map(rows.map(({ id, seq }) => [id, seq]))
    for (const followed of this.#followed) {
      const seq = followed.projectId === null ? 0 : (seqOf.get(followed.projectId) ?? 0)
      if (followed.state?.seq === seq && followed.state.projectId === followed.projectId) continue
      followed.state = { db: this.#database, projectId: followed.projectId, seq }
      followed.tell(followed.state)
    }
  }

  /** A connection of its own, opened again whenever it ends. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { listen, url } = this.#database.place
    while (!signal.aborted) {
      const client = new Client({ ...clientConfig(listen ?? url), application_name: 'waymark-listen' })
      let pause = lost
      const ended = new Promise<void>((resolve) => {
        client.on('error', () => resolve())
        client.on('end', () => resolve())
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      try {
        await client.connect()
        client.on('notification', () => this.#look())
        await client.query(`listen ${channel}`)
        this.#isListening = await this.#hears(client, signal)
        this.#look()
        if (this.#isListening) await ended
        else pause = deaf
      } catch {
        // Without it the look alone finds what is new.
      }
      this.#isListening = false
      this.#look()
      await client.end().catch(() => undefined)
      await wait(pause, signal)
    }
  }

  /** A pooler in transaction mode takes `listen` and tells nothing: only what is heard counts. */
  async #hears(client: Client, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), 2000)
    signal.addEventListener('abort', () => resolve(false), { once: true })
    client.once('notification', () => resolve(true))
    await client.query(`select pg_notify('${channel}', '')`)
    const hears = await promise
    clearTimeout(timer)
    return hears
  }
}

/** The last state of one project, and who waits for the next. */
class ChangeWaiter {
  failure: { readonly error: unknown } | null = null
  readonly #waiting = new Set<() => void>()
  #state: LiveProjectState | null = null

  tell(state: LiveProjectState): void {
    this.#state = state
    for (const resolve of this.#waiting) resolve()
  }

  fail(error: unknown): void {
    this.failure = { error }
    for (const resolve of this.#waiting) resolve()
  }

  async after(seen: LiveProjectState | null, signal: AbortSignal): Promise<LiveProjectState | null> {
    while (!signal.aborted) {
      if (this.failure) throw this.failure.error
      if (this.#state && this.#state !== seen) return this.#state
      await this.#turn(signal)
    }
    return null
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    this.#waiting.add(end)
    signal.addEventListener('abort', end, { once: true })
    await promise
    this.#waiting.delete(end)
    signal.removeEventListener('abort', end)
  }
}

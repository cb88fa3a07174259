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
// Notifications are committed asynchronously: a lost one is replaced by the next poll, and waiting would delay other commits.
const notify = `set local synchronous_commit = off; select pg_notify('${channel}', '')`
/** Milliseconds between polls without and with working notifications. */
const pollMs = 25
const pollWhileListeningMs = 1000
/** Between polls for a project that has no record yet. */
const pollAbsentMs = 250
/** Before LISTEN is tried again: after a lost connection, and where notifications do not arrive. */
const reconnectMs = 100
const retryListenMs = 10_000
/** Between two notifications of one process. */
const notifyIntervalMs = 10

/** The state of a project: another object means that something was committed. */
export interface LiveProjectState {
  readonly db: PostgresDatabase
  readonly projectId: string | null
  readonly seq: number
}

interface LiveSubscription {
  readonly find: (db: Kysely<Tables>) => Promise<string | null>
  projectId: string | null
  notify(state: LiveProjectState): void
  fail(error: unknown): void
  state: LiveProjectState | null
}

/** Polls a database for all followers of its projects with one statement. LISTEN only makes it faster. */
export class LiveWatcher {
  readonly #database: PostgresDatabase
  readonly #followed = new Set<LiveSubscription>()
  readonly #ending = new AbortController()
  #running: Promise<void> | null = null
  #wake: () => void = () => undefined
  #isAwake = false
  #isListening = false
  #notified = 0
  #notifying: NodeJS.Timeout | null = null

  constructor(database: PostgresDatabase) {
    this.#database = database
  }

  /** After a commit here: polls at once for local followers, and notifies other processes. */
  wakeForCommit(): void {
    this.#wakeUp()
    if (this.#notifying !== null || this.#ending.signal.aborted) return
    const wait = Math.max(0, this.#notified + notifyIntervalMs - performance.now())
    this.#notifying = setTimeout(() => {
      this.#notifying = null
      this.#notified = performance.now()
      // Other processes find it with the next poll.
      this.#database.ask(notify).catch(() => undefined)
    }, wait)
  }

  changes(find: LiveSubscription['find']): ChangeSource<LiveProjectState> {
    const change = new ChangeWaiter()
    const followed: LiveSubscription = {
      find,
      projectId: null,
      state: null,
      notify: (state) => change.notify(state),
      fail: (error) => change.fail(error),
    }
    this.#followed.add(followed)
    this.#begin()
    this.#wakeUp()
    return {
      get isDead() {
        return change.failure !== null
      },
      after: (seen, signal) => change.after(seen, signal),
      stop: async () => {
        this.#followed.delete(followed)
        this.#wakeUp()
      },
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    if (this.#notifying !== null) {
      clearTimeout(this.#notifying)
      await this.#database.ask(notify).catch(() => undefined)
    }
    this.#wakeUp()
    await this.#running
  }

  /** A follower that joins while the last run ends starts the next run. */
  #begin(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      if (!this.#isDone) this.#begin()
    })
  }

  #wakeUp(): void {
    this.#isAwake = true
    this.#wake()
  }

  get #isDone(): boolean {
    return this.#ending.signal.aborted || this.#followed.size === 0
  }

  async #run(): Promise<void> {
    const listening = new AbortController()
    const listener = this.#listen(listening.signal)
    try {
      while (!this.#isDone) {
        this.#isAwake = false
        await this.#poll()
        await this.#pause()
      }
    } finally {
      listening.abort()
      await listener
    }
  }

  async #pause(): Promise<void> {
    if (this.#isAwake) return
    const isAnyAbsent = [...this.#followed].some(({ projectId }) => projectId === null)
    const interval = this.#isListening ? pollWhileListeningMs : pollMs
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, isAnyAbsent ? Math.min(interval, pollAbsentMs) : interval)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }

  async #poll(): Promise<void> {
    try {
      await this.#database.transaction('read', async ({ db }) => {
        for (const followed of this.#followed) followed.projectId ??= await followed.find(db)
        await this.#notifyEach(db)
      })
    } catch (error) {
      // An unreachable database comes back, and the missed entries are read then.
      if (errorReaction(error) === 'refused') {
        for (const followed of this.#followed)
          followed.fail(serverUnavailable(error, this.#database.place.label))
      } else await sleep(100)
    }
  }

  async #notifyEach(db: Kysely<Tables>): Promise<void> {
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
      followed.notify(followed.state)
    }
  }

  /** A connection of its own, reopened whenever it ends. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { listen, url } = this.#database.place
    while (!signal.aborted) {
      const client = new Client({ ...clientConfig(listen ?? url), application_name: 'waymark-listen' })
      let pause = reconnectMs
      const ended = new Promise<void>((resolve) => {
        client.on('error', () => resolve())
        client.on('end', () => resolve())
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      try {
        await client.connect()
        client.on('notification', () => this.#wakeUp())
        await client.query(`listen ${channel}`)
        this.#isListening = await this.#receivesNotifications(client, signal)
        this.#wakeUp()
        if (this.#isListening) await ended
        else pause = retryListenMs
      } catch {
        // Without it, polling finds new entries.
      }
      this.#isListening = false
      this.#wakeUp()
      await client.end().catch(() => undefined)
      await wait(pause, signal)
    }
  }

  /** A pooler in transaction mode accepts `listen` but delivers nothing: only a received notification counts. */
  async #receivesNotifications(client: Client, signal: AbortSignal): Promise<boolean> {
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

/** The last state of one project, and the followers that wait for the next. */
class ChangeWaiter {
  failure: { readonly error: unknown } | null = null
  readonly #waiting = new Set<() => void>()
  #state: LiveProjectState | null = null

  notify(state: LiveProjectState): void {
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

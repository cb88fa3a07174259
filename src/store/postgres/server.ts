import { sql } from 'kysely'
import type { RecordResult } from '../record/record.ts'
import { assertSchema, assertSchemaNotOlder } from '../schema/schema.ts'
import { AsyncLimiter } from '../sqlite/lock-retry.ts'
import { createPostgresTables, schemaOf } from './create.ts'
import { PostgresDatabase, type PostgresTimes, type TransactionSession } from './database.ts'
import { postgresPlace } from './database-url.ts'
import { WriteQueue } from './group-commit.ts'
import { LiveWatcher } from './listener.ts'

/** Shared by all stores of this process that use the same database. */
export class PostgresServer {
  readonly database: PostgresDatabase
  readonly live: LiveWatcher
  readonly #release: () => boolean
  /** Creates projects one at a time. */
  readonly making = new AsyncLimiter()
  readonly #queues = new Map<string, WriteQueue>()
  #hasTables = false
  #creating: Promise<void> | null = null

  constructor(database: PostgresDatabase, leave: () => boolean) {
    this.database = database
    this.live = new LiveWatcher(database)
    this.#release = leave
  }

  /** The write queue of a project: waiting in this process saves connections. */
  queueOf(projectId: string): WriteQueue {
    const existing = this.#queues.get(projectId)
    if (existing) return existing
    const queue = new WriteQueue({
      database: this.database,
      lock: (session) => this.lock(session, projectId),
      isCommitted: (last) => this.isCommitted(projectId, last),
      onCommit: () => this.live.wakeForCommit(),
    })
    this.#queues.set(projectId, queue)
    return queue
  }

  /** Locks a project for writing. Sent at once, so that later queries run under the lock. Fails for an unknown schema. */
  async lock({ db, begun, send }: TransactionSession, projectId: string): Promise<boolean> {
    const lock = sql<{ readonly version: number }>`
      select (select version from waymark_schema) as version from project where id = ${projectId} and ${this.database.limited}
      for no key update`
    const [, { rows }] = await Promise.all([begun, send(lock.compile(db))])
    const version = rows[0]?.version
    if (version === undefined) return false
    this.#assertSchema(version)
    return true
  }

  /** Locks the creation of projects. */
  async lockAll({ db, begun }: TransactionSession): Promise<void> {
    const [, { rows }] = await Promise.all([
      begun,
      sql<{
        readonly version: number
      }>`select version from waymark_schema where ${this.database.limited} for update`.execute(db),
    ])
    this.#assertSchema(rows[0]?.version ?? 0)
  }

  /** Whether a lost commit succeeded. Getting its lock proves that the earlier transaction ended. */
  isCommitted(projectId: string, last: NonNullable<RecordResult<unknown>['last']>): Promise<boolean> {
    return this.database.transaction('record', async (session) => {
      if (!(await this.lock(session, projectId))) await this.lockAll(session)
      const event = await session.db
        .selectFrom('project_event')
        .select('hash')
        .where('project_id', '=', projectId)
        .where('seq', '=', last.seq)
        .executeTakeFirst()
      return event?.hash === last.head
    })
  }

  #assertSchema(version: number): void {
    assertSchema(this.database.place.label, version, newDatabaseHint)
  }

  /** Creates the tables if they are missing, before a write. */
  async ensureTables(): Promise<void> {
    if (!(await this.hasTables())) await this.#createTables()
  }

  /** Whether the tables exist. Creates none. Fails for those of an older Waymark. */
  async hasTables(): Promise<boolean> {
    if (this.#hasTables) return true
    const version = await this.database.read(schemaOf)
    if (version > 0) assertSchemaNotOlder(this.database.place.label, version, newDatabaseHint)
    this.#hasTables = version > 0
    return this.#hasTables
  }

  /** Creates the tables once for all concurrent callers. */
  #createTables(): Promise<void> {
    this.#creating ??= createPostgresTables(this.database)
      .then(() => {
        this.#hasTables = true
      })
      .finally(() => {
        this.#creating = null
      })
    return this.#creating
  }

  /** The last store to leave closes the connections. */
  async leave(): Promise<void> {
    if (!this.#release()) return
    await this.live.close()
    await this.database.close()
  }
}

/** The hint for a database with an unsupported schema. */
export const newDatabaseHint = 'Create an empty database on that server and name it in WAYMARK_DATABASE.'

const servers = new Map<string, { readonly server: PostgresServer; stores: number }>()

export interface PostgresServerOptions {
  /** `postgres://…`, with the password. */
  readonly url: string
  /** Another URL for LISTEN, if the first one leads to a pooler. */
  readonly listen?: string | null
  readonly times?: PostgresTimes
}

/** One pool for all projects of a database. Call `leave` at the end. */
export function serverAt({ url, listen = null, times }: PostgresServerOptions): PostgresServer {
  const key = JSON.stringify([url, listen, times])
  const existing = servers.get(key)
  if (existing) {
    existing.stores += 1
    return existing.server
  }
  const server = new PostgresServer(new PostgresDatabase(postgresPlace(url, listen), times), () => {
    const entry = servers.get(key)
    if (!entry) return false
    entry.stores -= 1
    if (entry.stores === 0) servers.delete(key)
    return entry.stores === 0
  })
  servers.set(key, { server, stores: 1 })
  return server
}

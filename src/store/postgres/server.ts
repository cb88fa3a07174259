import { sql } from 'kysely'
import type { RecordResult } from '../record/record.ts'
import { assertSchema, assertSchemaNotOlder } from '../schema/schema.ts'
import { AsyncLimiter } from '../sqlite/lock-retry.ts'
import { createTables, schemaOf } from './create.ts'
import { PostgresDatabase, type PostgresTimes, type TransactionSession } from './database.ts'
import { postgresPlace } from './database-url.ts'
import { WriteQueue } from './group-commit.ts'
import { LiveWatcher } from './listener.ts'

/** What all stores of this process have in common that lead to one database. */
export class PostgresServer {
  readonly database: PostgresDatabase
  readonly live: LiveWatcher
  readonly #leave: () => boolean
  /** Whoever makes a project comes before others who do. */
  readonly making = new AsyncLimiter()
  readonly #lines = new Map<string, WriteQueue>()
  #isMade = false
  #making: Promise<void> | null = null

  constructor(database: PostgresDatabase, leave: () => boolean) {
    this.database = database
    this.live = new LiveWatcher(database)
    this.#leave = leave
  }

  /** Where the writers of one project wait for each other: they would wait in the database, each with a connection of the pool. */
  lineOf(projectId: string): WriteQueue {
    const known = this.#lines.get(projectId)
    if (known) return known
    const line = new WriteQueue({
      database: this.database,
      lock: (session) => this.lock(session, projectId),
      isCommitted: (last) => this.isCommitted(projectId, last),
      committed: () => this.live.committed(),
    })
    this.#lines.set(projectId, line)
    return line
  }

  /**
   * Every writer of a project waits here. Sent before this function answers: what is asked after it is asked under the
   * lock. Fails where the schema is one that this program does not know.
   */
  async lock({ db, begun, send }: TransactionSession, projectId: string): Promise<boolean> {
    const lock = sql<{ readonly version: number }>`
      select (select version from waymark_schema) as version from project where id = ${projectId} and ${this.database.limited}
      for no key update`
    const [, { rows }] = await Promise.all([begun, send(lock.compile(db))])
    const version = rows[0]?.version
    if (version === undefined) return false
    this.#assertKnown(version)
    return true
  }

  /** Whoever makes a project waits here. */
  async lockAll({ db, begun }: TransactionSession): Promise<void> {
    const [, { rows }] = await Promise.all([
      begun,
      sql<{
        readonly version: number
      }>`select version from waymark_schema where ${this.database.limited} for update`.execute(db),
    ])
    this.#assertKnown(rows[0]?.version ?? 0)
  }

  /** After a commit that was lost: the transaction before us has ended once we have its lock. */
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

  #assertKnown(version: number): void {
    assertSchema(this.database.place.shown, version, startAnew)
  }

  /** For writing: the first server that comes makes the schema. */
  async made(): Promise<void> {
    if (!(await this.isMade())) await this.#make()
  }

  /** Whether the tables exist. Makes none. Fails for those of an older Waymark. */
  async isMade(): Promise<boolean> {
    if (this.#isMade) return true
    const version = await this.database.read(schemaOf)
    if (version > 0) assertSchemaNotOlder(this.database.place.shown, version, startAnew)
    this.#isMade = version > 0
    return this.#isMade
  }

  /** Makes the tables, once for all who ask at the same time. */
  #make(): Promise<void> {
    this.#making ??= createTables(this.database)
      .then(() => {
        this.#isMade = true
      })
      .finally(() => {
        this.#making = null
      })
    return this.#making
  }

  /** The last store that leaves closes the connections. */
  async leave(): Promise<void> {
    if (!this.#leave()) return
    await this.live.close()
    await this.database.close()
  }
}

/** What to do about a database whose schema is not read. */
export const startAnew = 'Create an empty database on that server and name it in WAYMARK_DATABASE.'

const servers = new Map<string, { readonly server: PostgresServer; stores: number }>()

export interface PostgresServerOptions {
  /** `postgres://…`, with the password. */
  readonly url: string
  /** Another URL for LISTEN, where the first one leads to a pooler. */
  readonly listen?: string | null
  readonly times?: PostgresTimes
}

/** One pool for all projects of a database. Call `leave` at the end. */
export function serverAt({ url, listen = null, times }: PostgresServerOptions): PostgresServer {
  const key = JSON.stringify([url, listen, times])
  const known = servers.get(key)
  if (known) {
    known.stores += 1
    return known.server
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

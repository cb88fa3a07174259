import type { Database } from 'better-sqlite3'
import type { DatabaseConnection, Driver } from 'kysely'
import { SqliteConnection } from './connection.ts'
import { patiently } from './patience.ts'
import { Turns } from './turns.ts'

/** Statements that begin a transaction. The second of a reader fixes the state that all its reads see. */
const begin = {
  write: ['begin immediate'],
  read: ['begin', 'select 1 from sqlite_schema limit 1'],
} as const

export type Access = keyof typeof begin

/** The connection was retired before its transaction began: take a new one. */
export class ConnectionRetired extends Error {}

/** One connection, used by one transaction at a time. */
export class SqliteDriver implements Driver {
  readonly #database: Database
  readonly #access: Access
  readonly #connection: SqliteConnection
  readonly #turns = new Turns()
  #isRetired = false
  #endTurn: (() => void) | null = null
  #asked = 0

  constructor(database: Database, access: Access) {
    this.#database = database
    this.#access = access
    this.#connection = new SqliteConnection(database)
  }

  /** Closes the connection as soon as nobody uses it. */
  retire(): void {
    this.#isRetired = true
    if (this.#endTurn === null) this.#database.close()
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const asked = performance.now()
    const endTurn = await this.#turns.take()
    if (this.#isRetired) {
      endTurn()
      throw new ConnectionRetired('the connection was retired')
    }
    this.#endTurn = endTurn
    this.#asked = asked
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    await patiently(() => {
      if (this.#database.inTransaction) this.#database.exec('rollback')
      for (const statement of begin[this.#access]) this.#database.exec(statement)
    }, this.#asked)
  }

  async commitTransaction(): Promise<void> {
    await patiently(() => this.#database.exec('commit'))
  }

  async rollbackTransaction(): Promise<void> {
    // SQLite itself rolls back after a full disk or an error of the disk.
    if (this.#database.inTransaction) this.#database.exec('rollback')
  }

  async releaseConnection(): Promise<void> {
    const endTurn = this.#endTurn
    this.#endTurn = null
    if (this.#isRetired) this.#database.close()
    endTurn?.()
  }

  async destroy(): Promise<void> {
    this.retire()
  }
}

import type { Database, Statement } from 'better-sqlite3'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

const keptStatements = 300

/** Runs queries on one SQLite connection and keeps their prepared statements. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: Database
  readonly #statements = new Map<string, Statement>()

  constructor(database: Database) {
    this.#database = database
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = this.#prepared(sql)
    if (statement.reader) return { rows: statement.all(...parameters) as Row[] } // a driver's rows
    const { changes } = statement.run(...parameters)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('queries of the store are bounded: nothing is streamed')
  }

  #prepared(sql: string): Statement {
    const kept = this.#statements.get(sql)
    if (kept) return kept
    const statement = this.#database.prepare(sql)
    const [oldest] = this.#statements.keys()
    if (this.#statements.size >= keptStatements && oldest !== undefined) this.#statements.delete(oldest)
    this.#statements.set(sql, statement)
    return statement
  }
}

import type { Database } from 'better-sqlite3'
import { type Dialect, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Tables } from '../schema/tables.ts'
import { type Access, SqliteDriver } from './driver.ts'

/** A connection to SQLite, as it is and as Kysely asks it. */
export interface OpenConnection {
  readonly raw: Database
  readonly db: Kysely<Tables>
  /** Closes it as soon as nobody uses it. */
  retire(): void
}

export function connected(raw: Database, access: Access): OpenConnection {
  const driver = new SqliteDriver(raw, access)
  const dialect: Dialect = {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TurnTakingAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
  return { raw, db: new Kysely<Tables>({ dialect }), retire: () => driver.retire() }
}

/** Kysely leaves it to the driver who is next: the driver knows who waited how long, and which connection is retired. */
class TurnTakingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

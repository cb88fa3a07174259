import type { Database } from 'better-sqlite3'
import { type Dialect, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Tables } from '../schema/tables.ts'
import { type Access, SqliteDriver } from './driver.ts'

export function queriesOver(database: Database, access: Access): Kysely<Tables> {
  const dialect: Dialect = {
    createDriver: () => new SqliteDriver(database, access),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
  return new Kysely<Tables>({ dialect })
}

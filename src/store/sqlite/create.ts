import type { Database } from 'better-sqlite3'
import { schemaStatements, schemaVersion } from '../schema/schema.ts'
import { numberOf } from './connection.ts'
import { retryWhileLocked } from './lock-retry.ts'

/** Creates the tables if missing. Concurrent processes wait for the one that creates them. */
export async function createSqliteTables(database: Database): Promise<void> {
  if (numberOf(database, 'user_version') > 0) return
  try {
    await retryWhileLocked(() => database.exec('begin immediate'))
    if (numberOf(database, 'user_version') === 0) {
      for (const statement of schemaStatements('sqlite')) database.exec(statement)
      database.pragma(`user_version = ${schemaVersion}`)
    }
    database.exec('commit')
  } finally {
    if (database.inTransaction) database.exec('rollback')
  }
}

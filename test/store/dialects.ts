import { plantDatabase } from '../support/planted-database.ts'
import { isPostgresLeftOut, plantedPostgres } from '../support/postgres/database.ts'
import { type TemporaryStore, temporaryPostgresStore, temporaryStore } from '../support/store.ts'

interface Dialect {
  readonly dialect: string
  /** A fresh, empty store. */
  readonly fresh: () => Promise<TemporaryStore>
  /** The same in a database where nothing else is. */
  readonly alone: () => Promise<TemporaryStore>
  /** Whether thousands of log entries in one transaction are recorded in a time that `npm test` has. */
  readonly isQuick: boolean
}

async function plantedStore(): Promise<TemporaryStore> {
  const temporary = await temporaryStore()
  await plantDatabase(temporary.file)
  return temporary
}

const postgres: Dialect = {
  dialect: 'postgres',
  fresh: () => temporaryPostgresStore(),
  alone: async () => temporaryPostgresStore(await plantedPostgres()),
  isQuick: process.env['WAYMARK_TEST_SOAK'] === '1',
}

/** Every contract test runs over each of these. */
export const dialects: readonly Dialect[] = [
  { dialect: 'sqlite', fresh: plantedStore, alone: plantedStore, isQuick: true },
  ...(isPostgresLeftOut ? [] : [postgres]),
]

import type { Kysely } from 'kysely'
import { migrations } from '../migrations/list.ts'
import { migrate } from '../migrations/migrate.ts'
import type { Tables } from '../schema/tables.ts'
import { connected } from './dialect.ts'
import { openMemory } from './open-connection.ts'

let opened: Promise<Kysely<Tables>> | null = null

/** What a project answers that was never written to. */
export function emptyDatabase(): Promise<Kysely<Tables>> {
  opened ??= open()
  return opened
}

async function open(): Promise<Kysely<Tables>> {
  const connection = openMemory()
  await migrate(connection, ':memory:', migrations)
  return connected(connection, 'read').db
}

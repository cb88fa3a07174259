import { type Kysely, sql } from 'kysely'
import { Failure } from '../../kernel/failure.ts'
import { type ProjectState, readOnlyNotice } from '../../project/tables/project-end.ts'
import type { StoreHealth } from '../ports/store.ts'
import { assertSchemaNotOlder, schemaVersion as maxKnownSchema } from '../schema/schema.ts'
import type { Tables } from '../tables/tables.ts'
import { schemaOf } from './create.ts'
import type { PostgresDatabase } from './database.ts'
import { serverUnavailable } from './errors.ts'
import { newDatabaseHint } from './server.ts'

const minVersion = 15
const maxVersion = 18

interface Settings {
  readonly version: number
  readonly max_connections: number
  readonly reserved: number
  readonly fsync: string
  readonly synchronous_commit: string
  readonly autovacuum: string
  readonly standbys: string
  readonly replicas: number
}

/** The database state for `doctor` and `status`. Values that cannot be read become warnings. */
export async function healthOf(
  database: PostgresDatabase,
  stateIn: (db: Kysely<Tables>) => Promise<ProjectState | null>,
): Promise<StoreHealth> {
  const { place } = database
  const empty = {
    location: place.label,
    exists: false,
    journalMode: null,
    schemaVersion: null,
    seq: 0,
    ended: null,
  }
  try {
    return await database.read(async (db) => {
      const { rows } = await settings.execute(db)
      const schemaVersion = await schemaOf(db)
      const warnings = rows.flatMap((row) => warningsOf(row, place.pool))
      if (schemaVersion === 0) return { ...empty, warnings }
      assertSchemaNotOlder(place.label, schemaVersion, newDatabaseHint)
      const state = await stateIn(db)
      return {
        ...empty,
        exists: state !== null,
        schemaVersion,
        seq: state?.seq ?? 0,
        ended: readOnlyNotice(state),
        warnings: [...schemaWarnings(schemaVersion), ...warnings],
      }
    })
  } catch (error) {
    const failure = serverUnavailable(error, place.label)
    if (!(failure instanceof Failure)) throw failure
    return { ...empty, exists: true, warnings: [[failure.message, failure.hint].filter(Boolean).join(' ')] }
  }
}

/** Why the server should not receive write requests, or null. */
export async function unreadyReason(database: PostgresDatabase): Promise<string | null> {
  try {
    return await database.transaction('read', async ({ db }) => {
      const { rows } = await readOnly.execute(db)
      if (rows[0]?.readOnly === 1) return `The database ${database.place.label} is read-only.`
      const version = await schemaOf(db)
      if (version > 0) assertSchemaNotOlder(database.place.label, version, newDatabaseHint)
      return schemaWarnings(version)[0] ?? null
    })
  } catch (error) {
    const failure = serverUnavailable(error, database.place.label)
    if (!(failure instanceof Failure)) throw failure
    return failure.message
  }
}

// The checking transaction is read-only itself.
const readOnly = sql<{ readonly readOnly: 0 | 1 }>`
  select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "readOnly"`

function schemaWarnings(version: number): readonly string[] {
  if (version <= maxKnownSchema) return []
  return [
    `It has schema ${version}, made by a newer Waymark; this one knows up to ${maxKnownSchema}, so it reads and does not write. Update Waymark.`,
  ]
}

// The number of connections is estimated from the open ones: each server has its own pool.
const settings = sql<Settings>`
  select current_setting('server_version_num')::int / 10000 as version,
    current_setting('max_connections')::int as max_connections,
    current_setting('superuser_reserved_connections')::int as reserved,
    current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('autovacuum') as autovacuum,
    current_setting('synchronous_standby_names') as standbys,
    (select count(distinct client_addr) from pg_stat_activity
      where datname = current_database() and application_name like 'waymark%') as replicas`

function warningsOf(row: Settings, pool: number): readonly string[] {
  const servers = Math.max(1, row.replicas)
  const neededConnections = servers * (pool + 1)
  const free = row.max_connections - row.reserved
  const counted = servers === 1 ? 'One Waymark' : `${servers} machines with Waymark`
  return [
    row.version < minVersion || row.version > maxVersion
      ? `It is PostgreSQL ${row.version}; Waymark is tested on ${minVersion} to ${maxVersion}.`
      : null,
    neededConnections > free
      ? `${counted} may open ${neededConnections} connections, and the server takes ${free}: lower ?pool= or raise max_connections.`
      : null,
    row.fsync === 'off'
      ? 'fsync is off: a crash of the server loses or damages what was acknowledged.'
      : null,
    row.synchronous_commit === 'off'
      ? 'synchronous_commit is off: a crash of the server loses what was acknowledged last.'
      : null,
    row.autovacuum === 'off'
      ? 'autovacuum is off: the database keeps query plans that were made when its tables were empty, and each call takes longer as the record grows.'
      : null,
  ].filter((warning) => warning !== null)
}

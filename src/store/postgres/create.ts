import { type Kysely, sql } from 'kysely'
import { schemaStatements, schemaVersion } from '../schema/schema.ts'
import type { Tables } from '../tables/tables.ts'
import type { PostgresDatabase } from './database.ts'

/** The schema version of a database; 0 without our tables. */
export async function schemaOf(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ readonly exists: number }>`
    select to_regclass('waymark_schema') is not null as exists`.execute(db)
  if (rows[0]?.exists !== 1) return 0
  const versions = await sql<{ readonly version: number }>`select version from waymark_schema`.execute(db)
  return versions.rows[0]?.version ?? 0
}

/** An arbitrary number, the same in every Waymark. */
const creationLock = 7_296_113

/** Creates the tables if missing. Concurrent servers wait for the one that creates them. */
export function createPostgresTables(database: PostgresDatabase): Promise<void> {
  return database.patiently(() =>
    database.transaction('write', async ({ db, begun }) => {
      await begun
      await sql.raw(`set local lock_timeout = '10min'; set local statement_timeout = '10min'`).execute(db)
      await sql`select pg_advisory_xact_lock(${sql.lit(creationLock)})`.execute(db)
      // A name is looked up in what this connection knew before it waited, until a statement reads a table.
      await sql`select from pg_catalog.pg_class limit 0`.execute(db)
      if ((await schemaOf(db)) > 0) return
      for (const statement of schemaStatements('postgres')) await sql.raw(statement).execute(db)
      await sql
        .raw(
          `create table waymark_schema (
            only_row bigint not null primary key check (only_row = 1),
            version bigint not null
          );
          insert into waymark_schema (only_row, version) values (1, ${schemaVersion})`,
        )
        .execute(db)
    }),
  )
}

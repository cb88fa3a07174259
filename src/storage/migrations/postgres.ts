import { type Kysely, sql } from 'kysely'
import { errorCode, Failure } from '../../domain/failure.ts'
import type { PostgresDatabase } from '../postgres/database.ts'
import type { Tables } from '../tables/tables.ts'
import { assertKnown, type Migration, newestOf, runStep, stepAfter } from './migration.ts'

/** The schema of a database: 0 where there is none of ours yet. */
export async function schemaOf(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ readonly there: number }>`
    select to_regclass('waymark_schema') is not null as there`.execute(db)
  if (rows[0]?.there !== 1) return 0
  return versionIn(db)
}

async function versionIn(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ readonly version: number }>`select version from waymark_schema`.execute(db)
  return rows[0]?.version ?? 0
}

/**
 * Brings a database to the newest schema. Any number of servers may do so at once: one does it, the others wait and find
 * nothing to do. Fails for a database of a newer Waymark, and for a step that removes something unless a person says
 * that there is a backup: a program cannot copy a database on a server as it copies a file.
 */
export async function migratePostgres(
  database: PostgresDatabase,
  migrations: readonly Migration[],
  isBackedUp: boolean,
): Promise<void> {
  const newest = newestOf(migrations)
  await begin(database)
  await database.patiently(() =>
    database.transaction('write', async ({ db, begun }) => {
      await begun
      // One waits for another, which may have much to do.
      await sql.raw(`set local lock_timeout = '10min'; set local statement_timeout = '10min'`).execute(db)
      await sql`select version from waymark_schema for update`.execute(db)
      let version = await versionIn(db)
      assertKnown(database.place.shown, version, newest)
      for (let step = stepAfter(migrations, version); step; step = stepAfter(migrations, version)) {
        if (waitsForBackup(step, version, isBackedUp)) throw needsBackup(database.place.shown, step)
        await runStep(step, 'postgres', db)
        version = step.version
      }
      await sql`update waymark_schema set version = ${version}`.execute(db)
    }),
  )
}

function waitsForBackup({ destructive }: Migration, version: number, isBackedUp: boolean): boolean {
  return destructive && version > 0 && !isBackedUp
}

/** The first step after a version that waits for a person to say that there is a backup, as a sentence; null for none. */
export function waitingStep(
  shown: string,
  version: number,
  { migrations, isBackedUp }: { readonly migrations: readonly Migration[]; readonly isBackedUp: boolean },
): string | null {
  const step = migrations.find((one) => one.version > version && waitsForBackup(one, version, isBackedUp))
  return step ? [needsBackup(shown, step).message, backupHint].join(' ') : null
}

/** What is PostgreSQL's alone: the version of the schema, and what projects are called. */
const beginning = `
  create table if not exists waymark_schema (
    only_row bigint not null primary key check (only_row = 1),
    version bigint not null
  );
  create table if not exists project_name (
    name text collate "C" not null primary key,
    project_id text collate "C" not null unique
  );
  insert into waymark_schema (only_row, version) values (1, 0) on conflict do nothing`

// Two that create the same table at once: the slower one fails, and finds it at its next try.
const madeByAnother = /^(23505|42P07|42710|40001|40P01|XX000)$/

async function begin(database: PostgresDatabase): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      await database.patiently(() =>
        database.transaction('write', async ({ db, begun }) => {
          await begun
          if ((await schemaOf(db)) === 0) await sql.raw(beginning).execute(db)
        }),
      )
      return
    } catch (error) {
      if (round >= 10 || !madeByAnother.test(errorCode(error) ?? '')) throw error
    }
  }
}

function needsBackup(shown: string, { version, title }: Migration): Failure {
  return new Failure(
    'UNAVAILABLE',
    `The database ${shown} needs step ${version} of the schema (${title}), which removes what cannot be made again.`,
    { hint: backupHint },
  )
}

const backupHint =
  'Make a backup with pg_dump, then start Waymark once with WAYMARK_BACKED_UP=1, or waymark serve --backed-up.'

import type { Database } from 'better-sqlite3'
import { Failure } from '../../domain/failure.ts'
import { numberOf } from '../sqlite/open-connection.ts'
import { patiently } from '../sqlite/patience.ts'
import type { Migration } from './migration.ts'
import { copyBefore, type SafetyCopy } from './safety-copy.ts'

/** Brings a database to the newest schema. Any number of processes may do so at once: each step runs once. */
export async function migrate(
  database: Database,
  file: string,
  migrations: readonly Migration[],
): Promise<void> {
  const newest = newestOf(migrations)
  assertKnown(file, numberOf(database, 'user_version'), newest)
  while (numberOf(database, 'user_version') < newest) await nextStep(database, file, migrations)
}

export function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0
}

/** Fails for a database that a later release has written: this one would misread it. */
export function assertKnown(file: string, version: number, newest: number): void {
  if (version <= newest) return
  throw new Failure(
    'UNAVAILABLE',
    `The database ${file} has schema ${version}, made by a newer Waymark; this one knows up to ${newest}.`,
    { hint: 'Update Waymark, for example with `npm install -g waymark@latest`.' },
  )
}

async function nextStep(database: Database, file: string, migrations: readonly Migration[]): Promise<void> {
  const due = migrations.find(({ version }) => version > numberOf(database, 'user_version'))
  const copy = due?.destructive ? await copyBefore(database, file, due) : null
  try {
    await patiently(() => database.exec('begin immediate'))
    const step = migrations.find(({ version }) => version > numberOf(database, 'user_version'))
    // Somebody else went ahead, or wrote after the copy was made: look again.
    if (step === undefined || step !== due || (copy && !copy.isCurrent())) database.exec('rollback')
    else runStep(database, step, copy)
  } finally {
    if (database.inTransaction) database.exec('rollback')
    copy?.discard()
  }
}

function runStep(
  database: Database,
  { statements, settle, version }: Migration,
  copy: SafetyCopy | null,
): void {
  copy?.keep()
  for (const statement of statements) database.exec(statement)
  settle?.(database)
  database.pragma(`user_version = ${version}`)
  database.exec('commit')
}

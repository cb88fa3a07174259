import { randomBytes } from 'node:crypto'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { assertKnown, type Migration, newestOf, runStep, stepAfter } from '../migrations/migration.ts'
import { numberOf } from './connection.ts'
import { connected } from './driver.ts'
import { patiently } from './waiting.ts'

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

async function nextStep(database: Database, file: string, migrations: readonly Migration[]): Promise<void> {
  const due = stepAfter(migrations, numberOf(database, 'user_version'))
  // One in memory has no file to lie beside.
  const copy = due?.destructive && !database.memory ? await copyBefore(database, file, due) : null
  try {
    await patiently(() => database.exec('begin immediate'))
    const step = stepAfter(migrations, numberOf(database, 'user_version'))
    // Another process went ahead, or wrote after the copy was made: look again.
    if (step === undefined || step !== due || (copy && !copy.isCurrent())) {
      database.exec('rollback')
      return
    }
    copy?.keep()
    await runStep(step, 'sqlite', connected(database, 'write').db)
    database.pragma(`user_version = ${step.version}`)
    database.exec('commit')
  } finally {
    if (database.inTransaction) database.exec('rollback')
    copy?.discard()
  }
}

interface SafetyCopy {
  /** Whether nobody wrote since the copy was made. */
  isCurrent(): boolean
  /** Gives the copy its name: the file's, and the schema that it still has. */
  keep(): void
  /** Removes the copy unless it was kept. */
  discard(): void
}

/** A copy of the whole database, made before what cannot be undone. It cannot be made inside a transaction. */
async function copyBefore(database: Database, file: string, step: Migration): Promise<SafetyCopy> {
  const temporary = `${file}.copy-${randomBytes(6).toString('hex')}`
  const versionOfData = numberOf(database, 'data_version')
  await patiently(() => database.prepare('vacuum into ?').run(temporary))
  chmodSync(temporary, 0o600)
  return {
    isCurrent: () => numberOf(database, 'data_version') === versionOfData,
    keep: () => renameSync(temporary, `${file}.before-schema-${step.version}`),
    discard: () => rmSync(temporary, { force: true }),
  }
}

import { randomBytes } from 'node:crypto'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { Failure } from '../../domain/failure.ts'
import { numberOf } from '../sqlite/connection.ts'
import { patiently } from '../sqlite/waiting.ts'

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
    // Another process went ahead, or wrote after the copy was made: look again.
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

/** One step of the schema. A step that was released is never edited: what is wrong is fixed by a later one. */
export interface Migration {
  /** 1 for the first; consecutive. */
  readonly version: number
  readonly title: string
  /** Removes or rewrites what cannot be made again: the file is copied before it runs. */
  readonly destructive: boolean
  /** Portable SQL, run in one transaction. */
  readonly statements: readonly string[]
  /** What SQL alone cannot say, in the same transaction, after the statements. */
  readonly settle?: (database: Database) => void
}

export interface SafetyCopy {
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

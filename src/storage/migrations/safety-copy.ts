import { randomBytes } from 'node:crypto'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { numberOf } from '../sqlite/open-connection.ts'
import { patiently } from '../sqlite/patience.ts'
import type { Migration } from './migration.ts'

export interface SafetyCopy {
  /** Whether nobody wrote since the copy was made. */
  isCurrent(): boolean
  /** Gives the copy its name: the file's, and the schema that it still has. */
  keep(): void
  /** Removes the copy unless it was kept. */
  discard(): void
}

/** A copy of the whole database, made before what cannot be undone. It cannot be made inside a transaction. */
export async function copyBefore(database: Database, file: string, step: Migration): Promise<SafetyCopy> {
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

import { type Kysely, sql } from 'kysely'
import { openTemporary } from '../sqlite/connection.ts'
import { createSqliteTables } from '../sqlite/create.ts'
import { connectDriver } from '../sqlite/driver.ts'
import { createYielder } from '../sqlite/lock-retry.ts'
import type { Tables } from '../tables/tables.ts'
import { derivedTables } from './comparison.ts'

// A statement takes at most 65,535 values.
const maxValues = 30_000

type CopyRow = Readonly<Record<string, unknown>>

/** Copies a new record to a server from a scratch file: building it there would leave many dead row versions. */
export async function copyWhole(
  db: Kysely<Tables>,
  apply: (scratch: Kysely<Tables>) => Promise<void>,
): Promise<void> {
  const scratch = openTemporary()
  try {
    await createSqliteTables(scratch)
    scratch.pragma('foreign_keys = off')
    const own = connectDriver(scratch, 'write').db
    await own.transaction().execute(apply)
    const pause = createYielder()
    for (const table of [
      'project',
      'project_event',
      ...derivedTables(scratch).filter((name) => name !== 'project'),
    ]) {
      const rows = sortRowsParentsFirst(table, scratch.prepare<[], CopyRow>(`select * from "${table}"`).all())
      const columns = Object.keys(rows[0] ?? {})
      const batchSize = Math.floor(maxValues / Math.max(1, columns.length))
      for (let from = 0; from < rows.length; from += batchSize) {
        const some = rows.slice(from, from + batchSize)
        const values = some.map((row) => sql`(${sql.join(columns.map((name) => sql`${row[name]}`))})`)
        await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
          values ${sql.join(values)}`.execute(db)
        const waits = pause()
        if (waits) await waits
      }
    }
  } finally {
    scratch.close()
  }
}

/** A task may reference a parent that was planned later. */
function sortRowsParentsFirst(table: string, rows: readonly CopyRow[]): readonly CopyRow[] {
  if (table !== 'task') return rows
  const byId = new Map(rows.map((row) => [row['id'], row]))
  const ordered = new Set<CopyRow>()
  const add = (row: CopyRow): void => {
    const parent = byId.get(row['parent_task_id'])
    if (parent && !ordered.has(parent)) add(parent)
    ordered.add(row)
  }
  for (const row of rows) add(row)
  return [...ordered]
}

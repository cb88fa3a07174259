import type { Database } from 'better-sqlite3'
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
      for (const rows of batchesOf(scratch, table)) {
        const columns = Object.keys(rows[0] ?? {})
        const values = rows.map((row) => sql`(${sql.join(columns.map((name) => sql`${row[name]}`))})`)
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

/** The rows of a table as they are read, in groups that fit into one statement. */
function* batchesOf(scratch: Database, table: string): Generator<readonly CopyRow[]> {
  let rows: CopyRow[] = []
  for (const row of rowsOf(scratch, table)) {
    rows.push(row)
    if ((rows.length + 1) * Object.keys(row).length <= maxValues) continue
    yield rows
    rows = []
  }
  if (rows.length > 0) yield rows
}

function* rowsOf(scratch: Database, table: string): Generator<CopyRow> {
  const query = `select * from "${table}"`
  if (table !== 'task') return yield* scratch.prepare<[], CopyRow>(query).iterate()
  yield* scratch.prepare<[], CopyRow>(`${query} where parent_task_id is null`).iterate()
  yield* sortParentsFirst(scratch.prepare<[], CopyRow>(`${query} where parent_task_id is not null`).all())
}

/** A task may reference a parent that was planned later. */
function sortParentsFirst(rows: readonly CopyRow[]): readonly CopyRow[] {
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

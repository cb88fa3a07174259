import type { Database } from 'better-sqlite3'
import { compare, projectColumn } from './comparison.ts'
import type { Replay } from './replay.ts'

/** What was made again. */
export interface Rebuilt {
  readonly tables: readonly string[]
  readonly rows: number
}

/**
 * Makes every table of a project that differs from its facts again. Runs inside the one write transaction, and the
 * replay must be of all its facts. Answers what it took the place of.
 */
export async function rebuild(database: Database, replayed: Replay, projectId: string): Promise<Rebuilt> {
  const { differing, differingTables } = await compare(database, replayed.database, projectId)
  for (const table of differingTables) {
    if (table === 'project') keepProject(database, replayed, projectId)
    else refill(database, replayed.database, { table, projectId })
  }
  return { tables: differingTables, rows: differing }
}

function refill(
  database: Database,
  replayed: Database,
  { table, projectId }: { readonly table: string; readonly projectId: string },
): void {
  const where = `where ${projectColumn(table)} = ?`
  database.prepare(`delete from "${table}" ${where}`).run(projectId)
  const reading = replayed.prepare(`select * from "${table}" ${where}`)
  const columns = reading.columns().map(({ name }) => name)
  const inserting = database.prepare(
    `insert into "${table}" (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  )
  for (const row of reading.raw().all(projectId)) inserting.run(row)
}

/** Everything belongs to this row, so it stays. */
function keepProject(database: Database, replayed: Replay, projectId: string): void {
  const row = replayed.database.prepare('select * from project where id = ?').get(projectId)
  if (row === undefined || row === null || typeof row !== 'object') return
  const columns = Object.keys(row).filter((column) => column !== 'id')
  database
    .prepare(`update project set ${columns.map((column) => `${column} = ?`).join(', ')} where id = ?`)
    .run(...columns.map((column) => (row as Readonly<Record<string, unknown>>)[column]), projectId) // a driver's row
}

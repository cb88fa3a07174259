import type { Database as Copy } from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import { verifyChain } from '../../events/log/event-log.ts'
import type { ChainCheck } from '../../events/ports/log-reads.ts'
import type { Inspection, RepairResult } from '../ports/store.ts'
import type { PostgresDatabase, TransactionSession } from '../postgres/database.ts'
import { chainOf, compareWithEvents, readLogHead } from '../safety/inspection.ts'
import { brokenEventLog } from '../safety/repair.ts'
import { openTemporary } from '../sqlite/connection.ts'
import { createSqliteTables } from '../sqlite/create.ts'
import { createYielder } from '../sqlite/lock-retry.ts'
import type { Tables } from '../tables/tables.ts'
import { compare, derivedTables, differingRows, type RowValues, type TableShape } from './comparison.ts'
import { replay } from './replay.ts'

/** Compares a project on the server with a replay of its log, from one snapshot. */
export async function inspectIn(
  database: PostgresDatabase,
  projectId: string,
): Promise<Omit<Inspection, 'anchor' | 'damage'>> {
  const copy = await database.read((db) => copyToMemory(db, projectId), 'inspect')
  try {
    return await compareWithEvents(copy, projectId)
  } finally {
    copy.close()
  }
}

/** Only the chain of hashes. */
export function inspectChainIn(database: PostgresDatabase, projectId: string): Promise<ChainCheck> {
  return database.read((db) => verifyChain({ db, projectId }), 'inspect')
}

// A log entry may be a megabyte.
const batchSize = 200

/** Copies one project's rows into a local scratch database, where they are compared like those of a file. */
async function copyToMemory(db: Kysely<Tables>, projectId: string): Promise<Copy> {
  const copy = openTemporary()
  const pause = createYielder()
  await createSqliteTables(copy)
  copy.pragma('foreign_keys = off')
  for (const table of ['project_event', ...derivedTables(copy)]) {
    const columns = columnsOf(copy, table)
    const insert = copy.prepare(
      `insert into "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    )
    for await (const rows of rowsOf(db, { table, columns, projectId })) {
      copy.exec('begin')
      for (const row of rows) insert.run(columns.map((name) => row[name]))
      copy.exec('commit')
      const waits = pause()
      if (waits) await waits
    }
  }
  return copy
}

interface ServerRowQuery {
  readonly table: string
  readonly columns: readonly string[]
  readonly projectId: string
}

async function* rowsOf(
  db: Kysely<Tables>,
  { table, columns, projectId }: ServerRowQuery,
): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
  const chosen = sql.join(columns.map((name) => sql.ref(name)))
  await sql`declare copied no scroll cursor for select ${chosen} from ${sql.table(table)}
    where ${sql.ref(projectColumn(table))} = ${sql.lit(projectId)}`.execute(db)
  for (;;) {
    const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(batchSize)} from copied`.execute(db)
    yield rows
    if (rows.length < batchSize) break
  }
  await sql`close copied`.execute(db)
}

function columnsOf(copy: Copy, table: string): readonly string[] {
  return copy.prepare<unknown[], string>('select name from pragma_table_info(?)').pluck().all(table)
}

function projectColumn(table: string): string {
  return table === 'project' ? 'id' : 'project_id'
}

/** Rebuilds the differing rows of a project under its lock. */
export async function repairIn({ db }: TransactionSession, projectId: string): Promise<RepairResult> {
  await sql
    .raw(`set local statement_timeout = '10min'; set local idle_in_transaction_session_timeout = '10min'`)
    .execute(db)
  const copy = await copyToMemory(db, projectId)
  const replayed = await replay(copy, projectId)
  try {
    const { brokenAt, error } = chainOf(replayed, readLogHead(copy, projectId))
    if (brokenAt !== null || error !== null)
      throw brokenEventLog(brokenAt, error, 'Restore a backup with pg_restore.')
    const { differing, differingTables } = await compare(copy, replayed.database, projectId)
    await rewrite(db, { copy, replayed: replayed.database, tables: differingTables, projectId })
    return { backup: null, events: replayed.seq, tables: differingTables, rows: differing }
  } finally {
    replayed.close()
    copy.close()
  }
}

interface RewriteOptions {
  readonly copy: Copy
  readonly replayed: Copy
  readonly tables: readonly string[]
  readonly projectId: string
}

/** Referenced rows are written first and removed last: tables are in order of creation. */
async function rewrite(
  db: Kysely<Tables>,
  { copy, replayed, tables, projectId }: RewriteOptions,
): Promise<void> {
  const ordered = derivedTables(copy).filter((table) => tables.includes(table))
  const differing = (table: string) => differingRows({ stored: copy, replayed, table, projectId })
  for (const table of ordered) {
    for (const { shape, replayed: row } of differing(table)) if (row) await upsertRow(db, shape, row)
  }
  for (const table of ordered.toReversed()) {
    for (const { shape, stored, replayed: row } of differing(table)) {
      if (row === null && stored) {
        await sql`delete from ${sql.table(table)} where ${keyCondition(shape, stored)}`.execute(db)
      }
    }
  }
}

async function upsertRow(
  db: Kysely<Tables>,
  { name, columns, key, keyAt }: TableShape,
  row: RowValues,
): Promise<void> {
  const others = columns.flatMap((column, at) => (keyAt.includes(at) ? [] : [{ column, value: row[at] }]))
  const values = sql.join(row.map((value) => sql`${value}`))
  const set = sql.join(others.map(({ column, value }) => sql`${sql.ref(column)} = ${value}`))
  await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))}) values (${values})
    on conflict (${sql.join(key.map((column) => sql.ref(column)))})
    ${others.length === 0 ? sql`do nothing` : sql`do update set ${set}`}`.execute(db)
}

function keyCondition({ key, keyAt }: TableShape, row: RowValues) {
  return sql.join(
    key.map((column, at) => sql`${sql.ref(column)} = ${row[keyAt[at] ?? 0]}`),
    sql` and `,
  )
}

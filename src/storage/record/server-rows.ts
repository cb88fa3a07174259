import type { Database as Copy } from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import type { ChainCheck } from '../../ports/reads.ts'
import type { Inspection, Repair } from '../../ports/store.ts'
import { verifyChain } from '../journal/journal.ts'
import { migrations } from '../migrations/list.ts'
import type { PostgresDatabase, Session } from '../postgres/database.ts'
import { besideFacts, chainOf, headOf } from '../safety/inspection.ts'
import { brokenJournal } from '../safety/repair.ts'
import { openMemory } from '../sqlite/connection.ts'
import { migrate } from '../sqlite/migrate.ts'
import { breath } from '../sqlite/waiting.ts'
import type { Tables } from '../tables/tables.ts'
import { compare, madeByFacts } from './comparison.ts'
import { type Replay, replay } from './replay.ts'

/** Compares what a project has on the server with what its facts make. All of it is read at one moment. */
export async function inspectIn(
  database: PostgresDatabase,
  projectId: string,
): Promise<Omit<Inspection, 'anchor' | 'damage'>> {
  const copy = await database.read((db) => copied(db, projectId), 'inspect')
  try {
    return await besideFacts(copy, projectId, { kept: null, full: true })
  } finally {
    copy.close()
  }
}

/** The chain of hashes alone. */
export function chainIn(database: PostgresDatabase, projectId: string): Promise<ChainCheck> {
  return database.read((db) => verifyChain({ db, projectId }), 'inspect')
}

const atOnce = 1000

/** One project's rows in a database of this process, where they are compared as those of a file are. */
async function copied(db: Kysely<Tables>, projectId: string): Promise<Copy> {
  const copy = openMemory()
  const pause = breath()
  await migrate(copy, ':memory:', migrations)
  copy.pragma('foreign_keys = off')
  for (const table of ['fact', ...madeByFacts(copy)]) {
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

type Row = Readonly<Record<string, unknown>>

interface Wanted {
  readonly table: string
  readonly columns: readonly string[]
  readonly projectId: string
}

async function* rowsOf(
  db: Kysely<Tables>,
  { table, columns, projectId }: Wanted,
): AsyncGenerator<readonly Row[]> {
  const chosen = sql.join(columns.map((name) => sql.ref(name)))
  await sql`declare copied no scroll cursor for select ${chosen} from ${sql.table(table)}
    where ${sql.ref(projectColumn(table))} = ${sql.lit(projectId)}`.execute(db)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(atOnce)} from copied`.execute(db)
    yield rows
    if (rows.length < atOnce) break
  }
  await sql`close copied`.execute(db)
}

function columnsOf(copy: Copy, table: string): readonly string[] {
  return copy.prepare<unknown[], string>('select name from pragma_table_info(?)').pluck().all(table)
}

function projectColumn(table: string): string {
  return table === 'project' ? 'id' : 'project_id'
}

/** Makes the rows of a project again that differ from its facts, while nobody else writes to it. */
export async function repairIn({ db }: Session, projectId: string): Promise<Repair> {
  await sql
    .raw(`set local statement_timeout = '10min'; set local idle_in_transaction_session_timeout = '10min'`)
    .execute(db)
  const copy = await copied(db, projectId)
  const made = await replay(copy, projectId)
  try {
    const { brokenAt, trouble } = chainOf(made, headOf(copy, projectId))
    if (brokenAt !== null || trouble !== null)
      throw brokenJournal(brokenAt, trouble, 'Restore a backup with pg_restore.')
    const { differing, differingTables } = await compare(copy, made.database, projectId)
    await rewrite(db, { copy, made, tables: differingTables, projectId })
    return { backup: null, facts: made.seq, tables: differingTables, rows: differing }
  } finally {
    made.close()
    copy.close()
  }
}

interface Rewriting {
  readonly copy: Copy
  readonly made: Replay
  readonly tables: readonly string[]
  readonly projectId: string
}

/** What refers to another row is written after it and removed before it: tables are made in that order. */
async function rewrite(db: Kysely<Tables>, { copy, made, tables, projectId }: Rewriting): Promise<void> {
  const ordered = madeByFacts(copy).filter((table) => tables.includes(table))
  for (const table of ordered) {
    const shape = shapeOf(copy, table)
    const stored = keyed(copy, shape, projectId)
    for (const [key, row] of keyed(made.database, shape, projectId)) {
      if (JSON.stringify(stored.get(key)) !== JSON.stringify(row)) await put(db, shape, row)
    }
  }
  for (const table of ordered.toReversed()) {
    const shape = shapeOf(copy, table)
    const right = keyed(made.database, shape, projectId)
    for (const [key, row] of keyed(copy, shape, projectId)) {
      if (!right.has(key)) await sql`delete from ${sql.table(table)} where ${keyIs(shape, row)}`.execute(db)
    }
  }
}

interface Shape {
  readonly table: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

function shapeOf(copy: Copy, table: string): Shape {
  const columns = columnsOf(copy, table)
  const key = copy
    .prepare<unknown[], string>('select name from pragma_table_info(?) where pk > 0 order by pk')
    .pluck()
    .all(table)
  return { table, columns, key: key.length > 0 ? key : columns }
}

function keyed(database: Copy, { table, key }: Shape, projectId: string): ReadonlyMap<string, Row> {
  const rows = database
    .prepare<unknown[], Row>(`select * from "${table}" where ${projectColumn(table)} = ? order by rowid`)
    .all(projectId)
  return new Map(rows.map((row) => [JSON.stringify(key.map((name) => row[name])), row]))
}

async function put(db: Kysely<Tables>, { table, columns, key }: Shape, row: Row): Promise<void> {
  const others = columns.filter((name) => !key.includes(name))
  const values = sql.join(columns.map((name) => sql`${row[name]}`))
  const set = sql.join(others.map((name) => sql`${sql.ref(name)} = ${row[name]}`))
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))}) values (${values})
    on conflict (${sql.join(key.map((name) => sql.ref(name)))})
    ${others.length === 0 ? sql`do nothing` : sql`do update set ${set}`}`.execute(db)
}

function keyIs({ key }: Shape, row: Row) {
  return sql.join(
    key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
    sql` and `,
  )
}

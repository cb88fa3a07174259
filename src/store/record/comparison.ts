import type { Database } from 'better-sqlite3'
import { excerpt } from '../../kernel/text.ts'
import { canonicalText } from '../fingerprint.ts'
import { createYielder } from '../sqlite/lock-retry.ts'
import { tableNames } from './replace-content.ts'
import type { Replay } from './replay.ts'

/** Tables that a replay does not create; all others are compared and can be rebuilt. */
export const tablesOutsideLog: Readonly<Record<string, string>> = {
  project_event: 'the log entries themselves, protected by their chain of hashes',
  secret: 'hashes of tokens and sign-in sessions, which are not in the log',
  idempotency_key: 'answers stored for idempotency keys',
  hook_event: 'hook events of open turns, and keys of recorded ones',
  kept_prompt: 'texts of prompts, which are not in the log',
  machine: 'remote machines and their last calls',
  attempt_diff: 'diffs of attempts, as remote machines sent them',
  command_output: 'command output that is too long for a log entry',
  command_lease: 'leases of running commands',
  notification_address: 'addresses of notifications, which are not in the log',
  notice: 'sent messages and their results',
  review_draft: 'unsent review comments',
  review_viewed: 'viewed files',
  review_inspected: 'times until which people viewed everything',
  attempt_files: 'files before and after attempts, as remote machines sent them',
  file_content: 'file contents, as remote machines sent them',
  notice_cursor: 'the read position of notifications in the log',
  project_name: 'names of projects on a server',
  project_root: 'folders of the project on this machine',
}

const maxReported = 20
const maxValueLength = 60

export interface TableDifference {
  readonly table: string
  /** A sentence about one row. */
  readonly says: string
}

export interface Comparison {
  readonly tables: readonly string[]
  readonly rows: number
  /** The number of differing rows. */
  readonly differing: number
  readonly differingTables: readonly string[]
  /** The first differences of each table. */
  readonly differences: readonly TableDifference[]
}

export interface TableShape {
  readonly name: string
  readonly key: readonly string[]
  readonly columns: readonly string[]
  /** The column indexes of the key. */
  readonly keyAt: readonly number[]
}

/** A row's values, in column order. */
export type RowValues = readonly unknown[]

/** The tables that a replay creates. */
export function derivedTables(database: Database): readonly string[] {
  return tableNames(database).filter((name) => !(name in tablesOutsideLog))
}

/** Compares the rows of a project with a replay. With `adopt`, equal JSON in another key order is copied into the replay. */
export async function compare(
  database: Database,
  replayed: Database,
  projectId: string,
  { adopt }: { readonly adopt: boolean } = { adopt: false },
): Promise<Comparison> {
  const pause = createYielder()
  const tables = derivedTables(database)
  const differences: TableDifference[] = []
  const differingTables = new Set<string>()
  let [rows, differing] = [0, 0]
  for (const name of tables) {
    const table = shapeOf(database, name)
    const reworded: RowValues[] = []
    let reported = 0
    for (const pair of pairs(rowsOf(database, table, projectId), rowsOf(replayed, table, projectId), table)) {
      rows += 1
      const found = differenceOf(pair, table)
      if (found === 'reworded') {
        if (adopt && pair.stored) reworded.push(pair.stored)
      } else if (found !== null) {
        differing += 1
        differingTables.add(name)
        reported += 1
        if (reported <= maxReported) differences.push({ table: name, says: found.says })
      }
      const waits = pause()
      if (waits) await waits
    }
    await adoptRows(replayed, table, reworded)
  }
  return { tables, rows, differing, differingTables: [...differingTables], differences }
}

interface DatabaseComparison {
  readonly stored: Database
  readonly replayed: Database
  readonly table: string
  readonly projectId: string
}

/** The rows of a table whose text differs, in pairs. */
export function* differingRows({
  stored,
  replayed,
  table,
  projectId,
}: DatabaseComparison): Generator<RowPair & { readonly shape: TableShape }> {
  const shape = shapeOf(stored, table)
  for (const pair of pairs(rowsOf(stored, shape, projectId), rowsOf(replayed, shape, projectId), shape)) {
    if (pair.stored?.every((value, at) => value === pair.replayed?.[at])) continue
    yield { ...pair, shape }
  }
}

/** The rows in key order. */
function rowsOf(database: Database, { name, key }: TableShape, projectId: string): Iterator<RowValues> {
  return database
    .prepare<unknown[], RowValues>(
      `select * from "${name}" where ${projectColumn(name)} = ? order by ${key.join(', ')}`,
    )
    .raw()
    .iterate(projectId)
}

async function adoptRows(
  replayed: Database,
  { name, columns, keyAt }: TableShape,
  rows: readonly RowValues[],
): Promise<void> {
  if (rows.length === 0) return
  const pause = createYielder()
  const quoted = columns.map((column) => `"${column}" = ?`)
  const where = keyAt.map((at) => quoted[at]).join(' and ')
  const update = replayed.prepare(`update "${name}" set ${quoted.join(', ')} where ${where}`)
  replayed.exec('begin')
  for (const row of rows) {
    update.run(...row, ...keyAt.map((at) => row[at]))
    const waits = pause()
    if (waits) await waits
  }
  replayed.exec('commit')
}

function projectColumn(table: string): string {
  return table === 'project' ? 'id' : 'project_id'
}

function shapeOf(database: Database, name: string): TableShape {
  const columns = database
    .prepare<unknown[], { name: string; pk: number }>('select name, pk from pragma_table_info(?)')
    .all(name)
  const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
  const namesOf = (list: readonly { readonly name: string }[]) => list.map((column) => column.name)
  const keyed = key.length > 0 ? key : columns
  return {
    name,
    key: namesOf(keyed),
    columns: namesOf(columns),
    keyAt: keyed.map((column) => columns.indexOf(column)),
  }
}

interface RowPair {
  readonly stored: RowValues | null
  readonly replayed: RowValues | null
}

/** Pairs of rows with the same key; both inputs are in key order. */
function* pairs(
  stored: Iterator<RowValues>,
  replayed: Iterator<RowValues>,
  { keyAt }: TableShape,
): Generator<RowPair> {
  try {
    let [left, right] = [nextOf(stored), nextOf(replayed)]
    while (left !== null || right !== null) {
      const order = left === null ? 1 : right === null ? -1 : orderOf(left, right, keyAt)
      yield { stored: order <= 0 ? left : null, replayed: order >= 0 ? right : null }
      if (order <= 0) left = nextOf(stored)
      if (order >= 0) right = nextOf(replayed)
    }
  } finally {
    stored.return?.()
    replayed.return?.()
  }
}

function nextOf(rows: Iterator<RowValues>): RowValues | null {
  const { done, value } = rows.next()
  return done ? null : value
}

function orderOf(one: RowValues, other: RowValues, keyAt: readonly number[]): number {
  for (const at of keyAt) {
    const order = orderOfValues(one[at], other[at])
    if (order !== 0) return order
  }
  return 0
}

/** SQLite's order: null, numbers, text by its bytes. */
function orderOfValues(one: unknown, other: unknown): number {
  if (one === other) return 0
  const rank = (value: unknown) => (value === null ? 0 : typeof value === 'number' ? 1 : 2)
  if (rank(one) !== rank(other)) return rank(one) - rank(other)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))
}

/** Null for equal rows; `reworded` for equal JSON in another key order. */
function differenceOf(
  { stored, replayed }: RowPair,
  table: TableShape,
): 'reworded' | { readonly says: string } | null {
  if (stored === null)
    return replayed && { says: `${rowName(replayed, table)} is missing, and the log has it.` }
  if (replayed === null) return { says: `${rowName(stored, table)} exists, and the log does not have it.` }
  if (stored.every((value, at) => value === replayed[at])) return null
  const different = table.columns.flatMap((_, at) => (isSame(stored[at], replayed[at]) ? [] : [at]))
  const [first] = different
  if (first === undefined) return 'reworded'
  const others = different.length > 1 ? ` So do ${different.length - 1} more of its columns.` : ''
  const column = table.columns[first] ?? ''
  return {
    says: `${rowName(stored, table)} differs: ${column} is ${valueText(stored[first])}, and ${valueText(replayed[first])} in the log.${others}`,
  }
}

/** JSON keys are in order of creation, which the log does not keep. */
function isSame(stored: unknown, replayed: unknown): boolean {
  if (stored === replayed) return true
  if (typeof stored !== 'string' || typeof replayed !== 'string' || !/^[[{]/.test(replayed)) return false
  try {
    return canonicalText(JSON.parse(stored)) === canonicalText(JSON.parse(replayed))
  } catch {
    return false
  }
}

function rowName(row: RowValues, { name, columns, keyAt }: TableShape): string {
  const parts = keyAt.filter((at) => columns[at] !== 'project_id').map((at) => String(row[at]))
  return `${name} ${parts.join(' ')}`.trimEnd()
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value)
  return excerpt(text, maxValueLength)
}

/** The rebuilt tables. */
export interface RebuildResult {
  readonly tables: readonly string[]
  readonly rows: number
}

/** Rebuilds every table that differs from the replay. Runs inside the one write transaction. */
export async function rebuild(
  database: Database,
  replayed: Replay,
  projectId: string,
): Promise<RebuildResult> {
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

/** Every other row references this one, so it stays. */
function keepProject(database: Database, replayed: Replay, projectId: string): void {
  const row = replayed.database.prepare('select * from project where id = ?').get(projectId)
  if (row === undefined || row === null || typeof row !== 'object') return
  const columns = Object.keys(row).filter((column) => column !== 'id')
  database
    .prepare(`update project set ${columns.map((column) => `${column} = ?`).join(', ')} where id = ?`)
    .run(...columns.map((column) => (row as Readonly<Record<string, unknown>>)[column]), projectId) // a driver's row
}

import type { Database } from 'better-sqlite3'
import { canonical } from '../fingerprint.ts'
import { breath } from './replay.ts'

/** What no fact makes, and so no replay: every other table is compared and can be rebuilt. */
export const notMadeByFacts: Readonly<Record<string, string>> = {
  fact: 'the facts themselves, which their chain of hashes vouches for',
  command: 'the answers that are kept for idempotency keys',
  project_root: 'the folders of this machine in which the project was seen',
}

const mostTold = 20
const longestValue = 60

export interface Difference {
  readonly table: string
  /** A sentence about one row. */
  readonly says: string
}

export interface Comparison {
  readonly tables: readonly string[]
  readonly rows: number
  /** How many rows differ. */
  readonly differing: number
  readonly differingTables: readonly string[]
  /** The first of each table. */
  readonly differences: readonly Difference[]
}

interface Table {
  readonly name: string
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

type Row = Readonly<Record<string, unknown>>

/** The tables that facts make, as this database has them. */
export function madeByFacts(database: Database): readonly string[] {
  return database
    .prepare<unknown[], string>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by rowid",
    )
    .pluck()
    .all()
    .filter((name) => !(name in notMadeByFacts))
}

/** Compares the rows of a project, table by table, with those that its facts make. */
export async function compare(
  database: Database,
  replayed: Database,
  projectId: string,
): Promise<Comparison> {
  const pause = breath()
  const tables = madeByFacts(database)
  const differences: Difference[] = []
  const differingTables = new Set<string>()
  let [rows, differing] = [0, 0]
  for (const name of tables) {
    const table = shapeOf(database, name)
    let told = 0
    for (const pair of pairs(rowsOf(database, table, projectId), rowsOf(replayed, table, projectId), table)) {
      rows += 1
      const says = differenceOf(pair, table)
      if (says !== null) {
        differing += 1
        differingTables.add(name)
        told += 1
        if (told <= mostTold) differences.push({ table: name, says })
      }
      const waits = pause()
      if (waits) await waits
    }
  }
  return { tables, rows, differing, differingTables: [...differingTables], differences }
}

/** Names of the project's column, and the rows in the order of their key. */
function rowsOf(database: Database, { name, key }: Table, projectId: string): readonly Row[] {
  return database
    .prepare<unknown[], Row>(
      `select * from "${name}" where ${projectColumn(name)} = ? order by ${key.join(', ')}`,
    )
    .all(projectId)
}

export function projectColumn(table: string): string {
  return table === 'project' ? 'id' : 'project_id'
}

function shapeOf(database: Database, name: string): Table {
  const columns = database
    .prepare<unknown[], { name: string; pk: number }>('select name, pk from pragma_table_info(?)')
    .all(name)
  const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
  const named = (list: readonly { readonly name: string }[]) => list.map((column) => column.name)
  return { name, key: named(key.length > 0 ? key : columns), columns: named(columns) }
}

interface Pair {
  readonly stored: Row | null
  readonly made: Row | null
}

/** Rows of one key side by side; both lists are in the order of their keys. */
function* pairs(stored: readonly Row[], made: readonly Row[], { key }: Table): Generator<Pair> {
  let [left, right] = [0, 0]
  while (left < stored.length || right < made.length) {
    const [one, other] = [stored[left] ?? null, made[right] ?? null]
    const order = one === null ? 1 : other === null ? -1 : orderOf(one, other, key)
    if (order <= 0) left += 1
    if (order >= 0) right += 1
    yield { stored: order <= 0 ? one : null, made: order >= 0 ? other : null }
  }
}

function orderOf(one: Row, other: Row, key: readonly string[]): number {
  for (const column of key) {
    const order = orderOfValues(one[column], other[column])
    if (order !== 0) return order
  }
  return 0
}

/** As SQLite orders them: nothing, numbers, text by its bytes. */
function orderOfValues(one: unknown, other: unknown): number {
  if (one === other) return 0
  const rank = (value: unknown) => (value === null ? 0 : typeof value === 'number' ? 1 : 2)
  if (rank(one) !== rank(other)) return rank(one) - rank(other)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))
}

function differenceOf({ stored, made }: Pair, table: Table): string | null {
  if (stored === null) return made && `${rowName(made, table)} is missing: the facts made it.`
  if (made === null) return `${rowName(stored, table)} is there, and no fact made it.`
  const different = table.columns.filter((column) => !isSame(stored[column], made[column]))
  if (different.length === 0) return null
  const [column = ''] = different
  const others = different.length > 1 ? ` So do ${different.length - 1} more of its columns.` : ''
  return `${rowName(stored, table)} differs: ${column} is ${shown(stored[column])}, and the facts say ${shown(made[column])}.${others}`
}

/** Objects are written in the order in which they were made, which the journal does not keep. */
function isSame(stored: unknown, made: unknown): boolean {
  if (stored === made) return true
  if (typeof stored !== 'string' || typeof made !== 'string' || !/^[[{]/.test(made)) return false
  try {
    return canonical(JSON.parse(stored)) === canonical(JSON.parse(made))
  } catch {
    return false
  }
}

function rowName(row: Row, { name, key }: Table): string {
  const parts = key.filter((column) => column !== 'project_id').map((column) => String(row[column]))
  return `${name} ${parts.join(' ')}`.trimEnd()
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
}

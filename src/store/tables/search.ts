import { type RawBuilder, sql } from 'kysely'
import { searchStart, searchStartLength } from '../schema/plan.ts'
import type { ReadScope } from './tables.ts'

/** Normalizes texts for the search: case and letter forms of any script. */
export function searchText(...texts: readonly (string | null)[]): string {
  return texts
    .filter((text) => text !== null)
    .join('\n')
    .normalize('NFKC')
    .toLowerCase()
}

/** Whether the table's column `search` contains a text. */
export function containsText(text: string, column = sql`search`): RawBuilder<boolean> {
  return sql<boolean>`${column} like ${`%${escapePattern(searchText(text))}%`} escape '\\'`
}

const start = sql.raw(searchStart)

/** The same, with only the index read where it has the whole text. */
export function containsIndexedText(text: string): RawBuilder<boolean> {
  return containsText(
    text,
    sql`case when length(${start}) > ${searchStartLength} then search else ${start} end`,
  )
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, (special) => `\\${special}`)
}

/** Of the newest rows of a table those with every word in their column `search`, or at the beginning of their id. */
export async function newestWithWords<Row>(
  { db, projectId }: ReadScope,
  table: 'mission' | 'task',
  {
    columns,
    order = sql`seq`,
    limit,
    words,
  }: {
    readonly columns: readonly (keyof Row & string)[]
    /** As an index has it. */
    readonly order?: RawBuilder<unknown>
    readonly limit: number
    readonly words: readonly string[]
  },
): Promise<readonly Row[]> {
  const shown = sql.join(columns.map((column) => sql.ref(column)))
  const newest = sql`select ${shown}, search, seq from ${sql.table(table)}
    where project_id = ${projectId} order by ${order} desc limit ${limit}`
  const conditions = words.map(
    (word) => sql`(${containsText(word)} or id like ${`${escapePattern(word)}%`} escape '\\')`,
  )
  const { rows } = await sql<Row>`select ${shown} from (${newest}) as newest
    where ${sql.join([sql`true`, ...conditions], sql` and `)} order by seq desc`.execute(db)
  return rows
}

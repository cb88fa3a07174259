import { type RawBuilder, sql } from 'kysely'
import { searchStart, searchStartLength, taskSearchTables } from '../schema/plan.ts'
import { createYielder } from '../sqlite/lock-retry.ts'
import { isSqlite } from './query.ts'
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

/** A commit that reaches a multiple of this many log entries is followed by one that indexes their tasks. */
const indexInterval = 128

export function isIndexDue({ seq, added }: { readonly seq: number; readonly added: number }): boolean {
  return seq % indexInterval < added
}

/** Log entries whose tasks are indexed at once. */
const indexBlock = 1024

/** Adds the tasks of all log entries to the index of `possibleTasks`. */
export async function indexTasks({ db, projectId }: ReadScope): Promise<void> {
  const { rows } = await sql<{ readonly head: number; readonly indexed: number }>`
    select seq as head, ${indexEnd(projectId)} as indexed from project where id = ${projectId}`.execute(db)
  const { head, indexed } = rows[0] ?? { head: 0, indexed: 0 }
  const pause = createYielder()
  for (let after = indexed; after < head; after += indexBlock) {
    await sql`insert into task_search (rowid, search)
      select seq, search from (${dueTasks(projectId, after, after + indexBlock)}) group by seq order by seq`.execute(
      db,
    )
    const waits = pause()
    if (waits) await waits
  }
  await sql`insert into task_search_end (project_id, seq) values (${projectId}, ${head})
    on conflict (project_id) do update set seq = excluded.seq`.execute(db)
}

function indexEnd(projectId: string): RawBuilder<number> {
  return sql<number>`coalesce((select seq from task_search_end where project_id = ${projectId}), 0)`
}

/** The tasks whose text comes from these log entries. The plus lets SQLite use the index of an expression. */
function dueTasks(
  projectId: string,
  after: number | RawBuilder<number>,
  upTo = Number.MAX_SAFE_INTEGER,
): RawBuilder<unknown> {
  return sql`select planned.seq + 0 as seq, planned.search from task as planned
      where planned.project_id = ${projectId} and planned.seq + 0 > ${after} and planned.seq + 0 <= ${upTo}
    union all select edited.seq, edited.search from project_event as event
      join task as edited on edited.project_id = event.project_id and edited.id = event.body ->> 'taskId'
      where event.project_id = ${projectId} and event.seq > ${after} and event.seq <= ${upTo}
      and event.kind = 'task.edited'
      and coalesce(event.body ->> '$.changes.name', event.body ->> '$.changes.goal') is not null`
}

export const taskSearchNames = ['task_search', 'task_search_end'] as const

/** Makes the index again, from all tasks in the file. */
export const remakeTaskSearch: readonly string[] = [
  ...taskSearchNames.map((name) => `drop table if exists main.${name}`),
  ...taskSearchTables,
  'insert into main.task_search (rowid, search) select seq, search from main.task order by seq',
  'insert into main.task_search_end (project_id, seq) select id, seq from main.project',
]

/** More are read in the order of their list, which ends early. */
const maxPossible = 256

/** A longer text is found by its first groups. */
const maxGroups = 64

/** The `seq` of every task that may contain all words, and of some others. Null if they are too many, or no index can tell. */
export async function possibleTasks(
  { db, projectId }: ReadScope,
  words: readonly string[],
): Promise<readonly number[] | null> {
  const groups = words.flatMap((word) => groupsOfThree(searchText(word))).slice(0, maxGroups)
  if (!isSqlite(db) || groups.length === 0) return null
  const match = groups.map((group) => `"${group.replaceAll('"', '""')}"`).join(' ')
  const { rows } = await sql<{ readonly seq: number }>`
    select seq from (${dueTasks(projectId, indexEnd(projectId))})
    union all select rowid from task_search where task_search match ${match} limit ${maxPossible + 1}`.execute(
    db,
  )
  return rows.length > maxPossible ? null : rows.map(({ seq }) => seq)
}

function groupsOfThree(text: string): readonly string[] {
  const characters = Array.from(text)
  return characters.slice(2).map((_, at) => characters.slice(at, at + 3).join(''))
}

/** By the index of the newest tasks, one lookup each. */
export function hasSeq(seqs: readonly number[]): RawBuilder<boolean> {
  return sql<boolean>`seq + 0 in (select value from json_each(${JSON.stringify(seqs)}))`
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, (special) => `\\${special}`)
}

/** The same by one of the words, in a task's text or at the beginning of its id, whose letters have any case. */
async function possibleTasksOrIds(
  { db, projectId }: ReadScope,
  words: readonly string[],
): Promise<readonly number[] | null> {
  const [longest = ''] = words.toSorted((one, other) => other.length - one.length)
  const inText = await possibleTasks({ db, projectId }, [longest])
  if (inText === null) return null
  const [first = '', second = ''] = longest
  const cases = (letter: string) => [...new Set([letter.toLowerCase(), letter.toUpperCase()])]
  const starts = cases(first).flatMap((one) => cases(second).map((other) => `${one}${other}`))
  const ofStarts = starts.map(
    (start) => sql`select seq from task
      where project_id = ${projectId} and id >= ${start} and id < ${`${start}\u{10ffff}`}`,
  )
  const byId = sql.join(ofStarts, sql` union all `)
  const { rows } = await sql<{ readonly seq: number }>`${byId} limit ${maxPossible + 1}`.execute(db)
  return rows.length > maxPossible ? null : [...inText, ...rows.map(({ seq }) => seq)]
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
  const among = table === 'task' ? await possibleTasksOrIds({ db, projectId }, words) : null
  const newest = among
    ? sql`select ${shown}, search, seq from task where project_id = ${projectId} and ${hasSeq(among)}
      and seq >= coalesce(
        (select seq from task where project_id = ${projectId} order by ${order} desc limit 1 offset ${limit - 1}), 0)`
    : sql`select ${shown}, search, seq from ${sql.table(table)}
      where project_id = ${projectId} order by ${order} desc limit ${limit}`
  const conditions = words.map(
    (word) => sql`(${containsText(word)} or id like ${`${escapePattern(word)}%`} escape '\\')`,
  )
  const { rows } = await sql<Row>`select ${shown} from (${newest}) as newest
    where ${sql.join([sql`true`, ...conditions], sql` and `)} order by seq desc`.execute(db)
  return rows
}

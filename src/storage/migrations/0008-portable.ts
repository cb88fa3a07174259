import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { Outcome } from '../../domain/fact.ts'
import type { FactOf } from '../../domain/fact-kinds.ts'
import { parsed } from '../tables/query.ts'
import { searchText } from '../tables/search.ts'
import type { Migration } from './migration.ts'

/** What was asked of JSON has columns; what is searched for is kept as it is compared; no column holds a NUL. */
export const portable: Migration = {
  version: 8,
  title: 'what every engine can ask',
  destructive: false,
  statements: ({ text, engine }) => [
    `alter table attempt_change add column scope ${text}`,
    'alter table attempt_change add column added_lines bigint',
    'alter table attempt_change add column deleted_lines bigint',
    `alter table attempt_end add column verification ${text} not null default ''`,
    'alter table attempt_end add column out_of_scope bigint not null default 0',
    `alter table attempt_end add column summary ${text} not null default ''`,
    `alter table mission add column search ${text} not null default ''`,
    `alter table task add column search ${text} not null default ''`,
    // Every token that a claim had, also when it is over.
    `create table claim_token (
      project_id ${text} not null,
      token ${text} not null,
      task_id ${text} not null,
      primary key (project_id, token),
      foreign key (project_id, task_id) references task (project_id, id)
    )`,
    // No database of another engine is as old as this.
    ...(engine === 'sqlite' ? measuresOfBefore : []),
  ],
  async settle(db, { engine }) {
    if (engine === 'postgres') return
    await replaceNul(db)
    await fillSummaries(db)
    await fillSearch(db)
    await fillTokens(db)
  },
}

const measuresOfBefore = [
  `update attempt_change set scope = json_extract(body, '$.scope'),
    added_lines = json_extract(body, '$.addedLines'), deleted_lines = json_extract(body, '$.deletedLines')`,
  `update attempt_end set verification = coalesce(json_extract(evidence, '$.verification'), ''),
    out_of_scope = coalesce(json_array_length(evidence, '$.scope.unexpected'), 0)`,
]

/** Text as drivers write it now: PostgreSQL keeps none with a NUL. */
async function replaceNul(db: QueryExecutorProvider): Promise<void> {
  const { rows: columns } = await sql<{ name: string; texts: string }>`
    select schema.name, group_concat(field.name) as texts
    from sqlite_schema as schema join pragma_table_info(schema.name) as field
    where schema.type = 'table' and schema.name <> 'fact' and lower(field.type) = 'text'
    group by schema.name`.execute(db)
  for (const { name, texts } of columns) {
    const fields = texts.split(',')
    const holdsNul = fields.map((field) => sql`instr(cast(${sql.ref(field)} as blob), x'00') > 0`)
    const { rows } = await sql<Readonly<Record<string, unknown>>>`
      select rowid, * from ${sql.table(name)} where ${sql.join(holdsNul, sql` or `)}`.execute(db)
    for (const row of rows) {
      const replaced = fields.flatMap((field) => {
        const value = row[field]
        return typeof value === 'string' && value.includes('\0') ? [sql`${sql.ref(field)} = ${value}`] : []
      })
      await sql`update ${sql.table(name)} set ${sql.join(replaced)} where rowid = ${row['rowid']}`.execute(db)
    }
  }
}

/** In JavaScript, because SQL cuts text at a NUL. */
function fillSummaries(db: QueryExecutorProvider): Promise<void> {
  return eachRow(
    db,
    sql`outcome from attempt_end where true`,
    async (row: { id: number; outcome: string }) => {
      const { summary } = parsed<Pick<Outcome, 'summary'>>(row.outcome)
      await sql`update attempt_end set summary = ${summary} where rowid = ${row.id}`.execute(db)
    },
  )
}

interface Searched {
  readonly id: number
  readonly name: string
  readonly more: string | null
  readonly most: string | null
}

/** In JavaScript, because SQLite knows the letters of English alone. */
async function fillSearch(db: QueryExecutorProvider): Promise<void> {
  const mission = sql`name, objective as more, description as most from mission where true`
  await eachRow(db, mission, async ({ id, name, more, most }: Searched) => {
    await sql`update mission set search = ${searchText(name, more, most)} where rowid = ${id}`.execute(db)
  })
  const task = sql`name, goal as more, null as most from task where true`
  await eachRow(db, task, async ({ id, name, more }: Searched) => {
    await sql`update task set search = ${searchText(name, more)} where rowid = ${id}`.execute(db)
  })
}

function fillTokens(db: QueryExecutorProvider): Promise<void> {
  const claimed = sql`project_id, body from fact where kind = 'task.claimed'`
  return eachRow(db, claimed, async (row: { id: number; project_id: string; body: string }) => {
    const { taskId, claim } = parsed<FactOf<'task.claimed'>>(row.body)
    await sql`insert into claim_token (project_id, token, task_id)
      values (${row.project_id}, ${claim.token}, ${taskId}) on conflict do nothing`.execute(db)
  })
}

const atOnce = 500

async function eachRow<Row extends { readonly id: number }>(
  db: QueryExecutorProvider,
  asked: RawBuilder<unknown>,
  work: (row: Row) => Promise<void>,
): Promise<void> {
  for (let last = 0; ; ) {
    const { rows } = await sql<Row>`
      select rowid as id, ${asked} and rowid > ${last} order by rowid limit ${atOnce}`.execute(db)
    for (const row of rows) await work(row)
    last = rows.at(-1)?.id ?? last
    if (rows.length < atOnce) return
  }
}

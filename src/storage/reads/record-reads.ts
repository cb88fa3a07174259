import { type Selectable, sql } from 'kysely'
import type { Page, PageRequest } from '../../ports/reads/page.ts'
import type { RecordFilter, RecordReads } from '../../ports/reads/record-reads.ts'
import { decisionOf, issueOf, progressOf } from '../rows/said-rows.ts'
import type { Tables } from '../schema/tables.ts'
import { recordConditions } from './record-conditions.ts'
import type { ReadScope } from './scope.ts'

type SaidTableName = 'decision' | 'issue' | 'progress'

export function recordReads(scope: ReadScope): RecordReads {
  return {
    decisions: (filter, request) => list(scope, { table: 'decision', of: decisionOf }, { filter, request }),
    issues: (filter, request) => list(scope, { table: 'issue', of: issueOf }, { filter, request }),
    progress: (filter, request) => list(scope, { table: 'progress', of: progressOf }, { filter, request }),
    async issue(id) {
      const { db, projectId } = scope
      const row = await db
        .selectFrom('issue')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? issueOf(row) : null
    },
  }
}

async function list<Name extends SaidTableName, Item>(
  { db, projectId }: ReadScope,
  { table, of }: { readonly table: Name; readonly of: (row: Selectable<Tables[Name]>) => Item },
  asked: { readonly filter: RecordFilter & { readonly unblocking?: boolean }; readonly request: PageRequest },
): Promise<Page<Item>> {
  const { before, limit } = asked.request
  const conditions = recordConditions(projectId, asked.filter, {
    table,
    agent: 'agent_name',
    time: 'created_at',
  })
  const matching = asked.filter.unblocking
    ? sql`${conditions} and not exists (select 1 from hold
        where hold.project_id = issue.project_id and hold.issue_id = issue.id and hold.status = 'open')`
    : conditions
  const older = before === undefined ? sql`` : sql`and seq < ${before}`
  const page = sql<Selectable<Tables[Name]> & { readonly seq: number }>`
    select * from ${sql.table(table)} where ${matching} ${older} order by seq desc limit ${limit}`
  const count = sql<{ total: number }>`select count(*) as total from ${sql.table(table)} where ${matching}`
  const { rows } = await page.execute(db)
  const counted = await count.execute(db)
  return {
    items: rows.map((row) => ({ seq: row.seq, item: of(row) })),
    total: counted.rows[0]?.total ?? 0,
  }
}

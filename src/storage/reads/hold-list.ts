import { sql } from 'kysely'
import type { HoldFilter, HoldLine } from '../../ports/reads/hold-reads.ts'
import type { Page, PageRequest } from '../../ports/reads/page.ts'
import { holdOf } from '../rows/hold-row.ts'
import { issueOf } from '../rows/said-rows.ts'
import { recordConditions } from './record-conditions.ts'
import type { ReadScope } from './scope.ts'

/** Open ones oldest first, because they wait; anything else newest first. */
export async function listHolds(
  { db, projectId }: ReadScope,
  filter: HoldFilter,
  { limit, before }: PageRequest,
): Promise<Page<HoldLine>> {
  const oldestFirst = filter.status === 'open'
  const matching = db
    .selectFrom('hold')
    .where(
      recordConditions(projectId, filter, {
        table: 'hold',
        agent: 'opened_by',
        time: filter.status === 'closed' ? 'closed_at' : 'opened_at',
      }),
    )
    .$if(filter.kinds !== undefined, (query) => query.where('hold.kind', 'in', [...(filter.kinds ?? [])]))
    .$if(filter.status === 'open', (query) => query.where('hold.status', '=', 'open'))
    .$if(filter.status === 'closed', (query) => query.where('hold.status', '<>', 'open'))
  const rows = await matching
    .selectAll('hold')
    .$if(before !== undefined, (query) => query.where('hold.seq', oldestFirst ? '>' : '<', before ?? 0))
    .orderBy('hold.seq', oldestFirst ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  const { total } = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  const issueIds = rows.flatMap(({ issue_id }) => (issue_id === null ? [] : [issue_id]))
  const issues = await db
    .selectFrom('issue')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', issueIds.length > 0 ? issueIds : [''])
    .execute()
  const issueById = new Map(issues.map((row) => [row.id, issueOf(row)]))
  return {
    items: rows.map((row) => ({
      seq: row.seq,
      item: { hold: holdOf(row), issue: issueById.get(row.issue_id ?? '') ?? null },
    })),
    total,
  }
}

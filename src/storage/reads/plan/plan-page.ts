import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { TaskId } from '../../../domain/id.ts'
import type { PlanFilter, PlanPage } from '../../../ports/reads/plan-reads.ts'
import type { TaskTable } from '../../schema/task-tables.ts'
import type { ReadScope } from '../scope.ts'
import { listOrder, planConditions, planStates } from './plan-conditions.ts'
import { planTotal } from './plan-total.ts'
import { plannedTasks } from './planned-tasks.ts'

export async function planPage(
  scope: ReadScope,
  filter: PlanFilter,
  { limit, after }: { readonly limit: number; readonly after?: TaskId },
): Promise<PlanPage> {
  const matching = planConditions(scope.projectId, filter)
  const behind = after === undefined ? sql`` : await behindTask(scope, after)
  const parts = planStates(filter).map((state) => sql`${matching} and ${state} ${behind}`)
  const rows = await firstOf(scope, parts, limit)
  return { tasks: await plannedTasks(scope, rows), total: await planTotal(scope, filter) }
}

/** The first of several parts that share no task: each part is read in its own order, then they are merged. */
async function firstOf(
  { db }: ReadScope,
  parts: readonly RawBuilder<unknown>[],
  limit: number,
): Promise<readonly Selectable<TaskTable>[]> {
  if (parts.length === 0) return []
  const firsts = parts.map(
    (part, index) => sql`select * from (
      select * from task where ${part} order by ${listOrder} limit ${limit}) as ${sql.ref(`part${index}`)}`,
  )
  const { rows } = await sql<Selectable<TaskTable>>`
    ${sql.join(firsts, sql` union all `)} order by ${listOrder} limit ${limit}`.execute(db)
  return rows
}

/** Nothing comes behind a task that is not there. */
async function behindTask({ db, projectId }: ReadScope, after: TaskId): Promise<RawBuilder<unknown>> {
  const last = await db
    .selectFrom('task')
    .select(['order_phase', 'order_phase_seq', 'order_own', 'seq'])
    .where('project_id', '=', projectId)
    .where('id', '=', after)
    .executeTakeFirst()
  if (!last) return sql`and 1 = 0`
  const place = [last.order_phase, last.order_phase_seq, last.order_own, last.seq]
  return sql`and (${listOrder}) > (${sql.join(place)})`
}

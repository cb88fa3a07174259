import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { PlannedTask } from '../../../domain/plan/plan.ts'
import type { PlanReads } from '../../../ports/reads/plan-reads.ts'
import type { TaskTable } from '../../schema/task-tables.ts'
import type { ReadScope } from '../scope.ts'
import { listOrder, ofOwner, planStates } from './plan-conditions.ts'
import { plannedTasks } from './planned-tasks.ts'

type NextFilter = Parameters<PlanReads['next']>[0]

/** A task without a role fits every role. */
export async function nextTask(scope: ReadScope, filter: NextFilter): Promise<PlannedTask | null> {
  const { owner, role, now } = filter
  const conditions = [
    sql`project_id = ${scope.projectId}`,
    ...(owner === undefined ? [] : [ofOwner(owner)]),
    ...(role === undefined ? [] : [sql`(role is null or role = ${role})`]),
  ]
  const matching = sql.join(conditions, sql` and `)
  const parts = planStates({ ready: true, now }).map((state) => sql`${matching} and ${state}`)
  const [next] = await plannedTasks(scope, await firstOf(scope, parts))
  return next ?? null
}

async function firstOf(
  { db }: ReadScope,
  parts: readonly RawBuilder<unknown>[],
): Promise<readonly Selectable<TaskTable>[]> {
  const order = sql`height desc, ${listOrder}`
  const firsts = parts.map(
    (part, index) => sql`select * from (
      select * from task where ${part} order by ${order} limit 1) as ${sql.ref(`part${index}`)}`,
  )
  const { rows } = await sql<Selectable<TaskTable>>`
    ${sql.join(firsts, sql` union all `)} order by ${order} limit 1`.execute(db)
  return rows
}

import { type Selectable, sql } from 'kysely'
import type { PlannedTask } from '../../../domain/plan/plan.ts'
import type { Page } from '../../../ports/reads/page.ts'
import type { TaskTable } from '../../schema/task-tables.ts'
import type { ReadScope } from '../scope.ts'
import { planTotal } from './plan-total.ts'
import { plannedTasks } from './planned-tasks.ts'

/** In order of creation. */
export async function everyTask(
  scope: ReadScope,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<Page<PlannedTask>> {
  const { db, projectId } = scope
  const { rows } = await sql<Selectable<TaskTable>>`
    select task.* from task_place as listed cross join task
    where listed.project_id = ${projectId} and listed.kind = 'project' and listed.place = ${projectId}
      and listed.task_seq > ${after} and task.project_id = listed.project_id and task.id = listed.task_id
    order by listed.task_seq limit ${limit}`.execute(db)
  const tasks = await plannedTasks(scope, rows)
  const items = tasks.map((item, index) => ({ seq: rows[index]?.seq ?? 0, item }))
  return { items, total: await planTotal(scope, { now: 0 }) }
}

import type { TaskId } from '../../../domain/id.ts'
import type { PlanFilter, PlanPage } from '../../../ports/reads/plan-reads.ts'
import type { ReadScope } from '../scope.ts'
import { firstTasks } from './first-tasks.ts'
import { type ListPlace, listOrder, planParts } from './plan-parts.ts'
import { planTotal } from './plan-total.ts'
import { plannedTasks } from './planned-tasks.ts'

/** Nothing comes behind a task that is not there. */
export async function planPage(
  scope: ReadScope,
  filter: PlanFilter,
  { limit, after }: { readonly limit: number; readonly after?: TaskId },
): Promise<PlanPage> {
  const total = await planTotal(scope, filter)
  const behind = after === undefined ? null : await placeOf(scope, after)
  if (behind === undefined) return { tasks: [], total }
  const parts = planParts(scope.projectId, filter, behind)
  const rows = await firstTasks(scope, parts, { order: listOrder, limit })
  return { tasks: await plannedTasks(scope, rows), total }
}

async function placeOf({ db, projectId }: ReadScope, taskId: TaskId): Promise<ListPlace | undefined> {
  return db
    .selectFrom('task')
    .select(['order_phase', 'order_phase_seq', 'order_own', 'seq'])
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .executeTakeFirst()
}

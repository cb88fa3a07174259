import type { Selectable } from 'kysely'
import type { TaskId } from '../../../domain/id.ts'
import type { PlannedTask } from '../../../domain/plan/plan.ts'
import { claimOf } from '../../rows/claim-row.ts'
import { isUnsettled } from '../../rows/standing.ts'
import { taskOf } from '../../rows/task-row.ts'
import type { TaskDependencyTable, TaskTable } from '../../schema/task-tables.ts'
import type { ReadScope } from '../scope.ts'

/** Tasks as the plan sees them, in the order given: one query more, whatever the number. */
export async function plannedTasks(
  scope: ReadScope,
  rows: readonly Selectable<TaskTable>[],
): Promise<readonly PlannedTask[]> {
  const dependencies = await dependenciesOf(
    scope,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    task: taskOf(row),
    dependsOn: dependencies.get(row.id) ?? [],
    unsettled: isUnsettled(row),
    blocked: row.status !== 'done' && row.open_dependencies > 0,
    claim: claimOf(row),
  }))
}

// One statement takes 32,766 values on SQLite.
const most = 30_000

/** What each task depends on, in the order in which it was said. */
export async function dependenciesOf(
  scope: ReadScope,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, readonly TaskId[]>> {
  const found = new Map<string, TaskId[]>()
  for (let start = 0; start < taskIds.length; start += most) {
    for (const edge of await edgesOf(scope, taskIds.slice(start, start + most))) {
      const dependsOn = found.get(edge.task_id) ?? []
      dependsOn.push(edge.depends_on_id as TaskId) // a brand
      found.set(edge.task_id, dependsOn)
    }
  }
  return found
}

type Edge = Pick<TaskDependencyTable, 'task_id' | 'depends_on_id' | 'seq'>

async function edgesOf({ db, projectId }: ReadScope, taskIds: readonly string[]): Promise<readonly Edge[]> {
  const edges = await db
    .selectFrom('task_dependency')
    .select(['task_id', 'depends_on_id', 'seq'])
    .where('project_id', '=', projectId)
    .where('task_id', 'in', [...taskIds])
    .execute()
  return edges.sort((one, other) => one.seq - other.seq)
}

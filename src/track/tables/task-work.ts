import { parseColumn, prepareByIds } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import { type ReportedChange, type TaskWork, workOfAttempts } from '../domain/changes.ts'

/** Without attempts that a person undid before the task was started again. */
const changesOfTasks = prepareByIds((db, projectId, taskIds) =>
  db
    .selectFrom('attempt')
    .innerJoin('task', (join) =>
      join.onRef('task.project_id', '=', 'attempt.project_id').onRef('task.id', '=', 'attempt.task_id'),
    )
    .innerJoin('attempt as last', (join) =>
      join.onRef('last.project_id', '=', 'task.project_id').onRef('last.id', '=', 'task.last_attempt_id'),
    )
    .innerJoin('attempt_change as change', (join) =>
      join
        .onRef('change.project_id', '=', 'attempt.project_id')
        .onRef('change.attempt_id', '=', 'attempt.id'),
    )
    .select(['attempt.task_id', 'change.body'])
    .where('attempt.project_id', '=', projectId)
    .where('attempt.task_id', 'in', taskIds)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('tree_write as undo')
            .select('undo.id')
            .whereRef('undo.project_id', '=', 'attempt.project_id')
            .where((row) =>
              row.or([
                row('undo.subject', '=', row.ref('task.id')),
                row('undo.subject', '=', row.ref('task.parent_task_id')),
              ]),
            )
            .where('undo.cause', '=', 'undo')
            .whereRef('undo.seq', '>', 'attempt.seq')
            .whereRef('undo.seq', '<', 'last.seq')
            .where((row) =>
              row.not(
                row.exists(
                  row
                    .selectFrom('tree_write as restored')
                    .select('restored.id')
                    .whereRef('restored.project_id', '=', 'undo.project_id')
                    .whereRef('restored.subject', '=', 'undo.id'),
                ),
              ),
            ),
        ),
      ),
    )
    .orderBy('attempt.seq')
    .orderBy('change.position'),
)

/** The files and lines of all attempts at some tasks, by the tasks' ids; those without a change are left out. */
export async function workOfTasks(
  scope: ReadScope,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, TaskWork>> {
  if (taskIds.length === 0) return new Map()
  const rows = await changesOfTasks(scope, taskIds)
  const byTask = Map.groupBy(rows, ({ task_id }) => task_id)
  return new Map(
    [...byTask].map(([id, changes]) => [
      id,
      workOfAttempts(changes.map(({ body }) => parseColumn<ReportedChange>(body))),
    ]),
  )
}

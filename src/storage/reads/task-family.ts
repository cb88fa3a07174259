import { sql } from 'kysely'
import type { TaskId } from '../../domain/id.ts'
import type { Task } from '../../domain/track/task.ts'
import { taskOf } from '../rows/task-row.ts'
import type { ReadScope } from './scope.ts'

/** At most 100, nearest first. */
export async function ancestors({ db, projectId }: ReadScope, taskId: TaskId): Promise<readonly TaskId[]> {
  const { rows } = await sql<{ id: TaskId }>`
    with recursive above (id, distance) as (
      select parent_task_id, 1 from task
        where project_id = ${projectId} and id = ${taskId} and parent_task_id is not null
      union all
      select task.parent_task_id, above.distance + 1 from above
        join task on task.project_id = ${projectId} and task.id = above.id
        where task.parent_task_id is not null and above.distance < 100
    )
    select id from above order by distance`.execute(db)
  return rows.map(({ id }) => id)
}

export async function openSubtasks({ db, projectId }: ReadScope, taskId: TaskId): Promise<readonly Task[]> {
  const rows = await db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('parent_task_id', '=', taskId)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('attempt')
          .select('attempt.id')
          .whereRef('attempt.project_id', '=', 'task.project_id')
          .whereRef('attempt.task_id', '=', 'task.id')
          .where('attempt.status', '=', 'open'),
      ),
    )
    .orderBy('seq')
    .limit(100)
    .execute()
  return rows.map(taskOf)
}

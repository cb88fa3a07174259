import type { Migration } from './migration.ts'

const holding = `hold.status = 'open' and hold.kind in ('blocker', 'review')`

/** What waits for a person holds up what depends on it; later words about an attempt; the connection of a claim. */
export const settledTasks: Migration = {
  version: 6,
  title: 'tasks that are done and not settled, corrections, connections of claims',
  destructive: false,
  statements: ({ text }) => [
    'alter table task add column open_holds bigint not null default 0',
    `alter table task add column claim_connection ${text}`,
    `create table attempt_correction (
      project_id ${text} not null,
      seq bigint not null,
      attempt_id ${text} not null,
      task_id ${text} not null,
      text ${text} not null,
      agent_name ${text},
      said_by ${text} not null,
      created_at bigint not null,
      primary key (project_id, seq),
      foreign key (project_id, attempt_id) references attempt (project_id, id)
    )`,
    'create index attempt_correction_task on attempt_correction (project_id, task_id, seq)',
    `update task set open_holds = (select count(*) from hold
        where hold.project_id = task.project_id and hold.task_id = task.id and ${holding})
      where exists (select 1 from hold
        where hold.project_id = task.project_id and hold.task_id = task.id and ${holding})`,
    `update task set open_dependencies = (select count(*) from task_dependency as edge
        join task as dependency on dependency.project_id = edge.project_id and dependency.id = edge.depends_on_id
        where edge.project_id = task.project_id and edge.task_id = task.id
          and (dependency.status <> 'done'
            or (dependency.open_holds > 0 and coalesce(dependency.resolution, '') <> 'dropped')))
      where exists (select 1 from task_dependency as edge
        join task as dependency on dependency.project_id = edge.project_id and dependency.id = edge.depends_on_id
        where edge.project_id = task.project_id and edge.task_id = task.id and dependency.open_holds > 0)`,
    `update task set standing = 'blocked' where status = 'to_do' and open_dependencies > 0`,
  ],
}

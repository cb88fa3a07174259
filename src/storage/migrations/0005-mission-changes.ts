import type { Migration } from './migration.ts'

// No database of another engine is as old as this. Beside a single max() SQLite answers the other columns of the row
// that has it: the last change.
const changesOfBefore = `insert into mission_change
  select project_id, mission_id, tree_top, path, from_path, change, origin, added_lines, deleted_lines, 0 from (
    select attempt.project_id, attempt.mission_id, attempt.tree_top, changed.path,
      max(attempt.closed_at * 1000000 + attempt.seq) as last,
      json_extract(changed.body, '$.from') as from_path,
      json_extract(changed.body, '$.change') as change,
      json_extract(changed.body, '$.origin') as origin,
      coalesce(sum(json_extract(changed.body, '$.addedLines')), 0) as added_lines,
      coalesce(sum(json_extract(changed.body, '$.deletedLines')), 0) as deleted_lines
    from attempt
    join attempt_change as changed
      on changed.project_id = attempt.project_id and changed.attempt_id = attempt.id
    where attempt.mission_id is not null
    group by attempt.project_id, attempt.mission_id, attempt.tree_top, changed.path)`

/** A mission's changes as a difference of states, one row a path; from what was recorded before, their sums. */
export const missionChanges: Migration = {
  version: 5,
  title: 'changes of missions',
  destructive: false,
  statements: ({ engine, text }) => [
    `create table mission_change (
      project_id ${text} not null,
      mission_id ${text} not null,
      tree_top ${text} not null,
      path ${text} not null,
      from_path ${text},
      change ${text} not null,
      origin ${text} not null,
      added_lines bigint,
      deleted_lines bigint,
      others bigint not null,
      primary key (project_id, mission_id, tree_top, path),
      foreign key (project_id, mission_id) references mission (project_id, id)
    )`,
    ...(engine === 'sqlite' ? [changesOfBefore] : []),
    'drop table mission_file',
  ],
}

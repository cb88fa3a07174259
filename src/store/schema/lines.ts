import type { TableStatements } from './table-statements.ts'

/** The history of lines between snapshots of a work tree. */
export const linesTables: TableStatements = ({ text }) => [
  `create table line_span (
    project_id ${text} not null references project (id),
    seq bigint not null,
    tree_top ${text} not null,
    since bigint not null,
    until bigint not null,
    head_before ${text},
    head_after ${text},
    stash_moved bigint not null,
    ran bigint not null,
    brought_from ${text} not null,
    primary key (project_id, seq)
  )`,

  `create table line_step (
    project_id ${text} not null references project (id),
    seq bigint not null,
    position bigint not null,
    path ${text} not null,
    from_path ${text},
    before_oid ${text},
    after_oid ${text},
    body ${text} not null,
    primary key (project_id, seq, position)
  )`,
  'create index line_step_after on line_step (project_id, after_oid)',
  'create index line_step_path on line_step (project_id, path, seq)',
  'create index line_step_from on line_step (project_id, from_path) where from_path is not null',

  `create table line_mark (
    project_id ${text} not null references project (id),
    mark ${text} not null,
    seq bigint not null,
    position bigint not null,
    primary key (project_id, mark, seq, position)
  )`,
]

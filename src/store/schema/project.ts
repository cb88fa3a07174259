import type { TableStatements } from './table-statements.ts'

/** The project, its log and the answers of commands. */
export const projectTables: TableStatements = ({ text }) => [
  `create table project (
    id ${text} not null primary key,
    seq bigint not null,
    head ${text} not null,
    created_at bigint not null
  )`,

  `create table project_root (
    path ${text} not null primary key,
    project_id ${text} not null references project (id),
    seen_at bigint not null
  )`,
  'create index project_root_project on project_root (project_id)',

  `create table project_name (
    name ${text} not null primary key,
    project_id ${text} not null unique
  )`,

  // A project that is closed for writing.
  `create table project_end (
    project_id ${text} not null primary key references project (id),
    seq bigint not null,
    location ${text},
    ended_at bigint not null
  )`,

  `create table setting (
    project_id ${text} not null references project (id),
    name ${text} not null,
    value ${text} not null,
    primary key (project_id, name)
  )`,

  `create table project_event (
    project_id ${text} not null references project (id),
    seq bigint not null,
    recorded_at bigint not null,
    kind ${text} not null,
    version bigint not null,
    actor ${text} not null,
    channel ${text} not null,
    body ${text} not null,
    hash ${text} not null,
    primary key (project_id, seq)
  )`,

  // Answers by idempotency key.
  `create table idempotency_key (
    project_id ${text} not null references project (id),
    owner ${text} not null,
    run_id ${text} not null,
    key ${text} not null,
    connection ${text},
    operation ${text} not null,
    input_hash ${text} not null,
    answer ${text} not null,
    seq bigint not null,
    created_at bigint not null,
    primary key (project_id, owner, run_id, key)
  )`,
]

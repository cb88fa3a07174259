import type { TableStatements } from './table-statements.ts'

/** Notifications and sent messages. */
export const notificationsTables: TableStatements = ({ text }) => [
  `create table notification (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    name ${text} not null,
    form ${text} not null,
    origin ${text},
    machine ${text},
    kinds ${text} not null,
    reaches_private bigint not null,
    owner_id ${text} not null,
    owner_name ${text} not null,
    created_at bigint not null,
    primary key (project_id, id)
  )`,

  // Whole addresses, which may be secrets, and sent messages: not in the log.
  `create table notification_address (
    project_id ${text} not null references project (id),
    id ${text} not null,
    url ${text} not null,
    secret ${text},
    primary key (project_id, id)
  )`,

  `create table notice (
    project_id ${text} not null references project (id),
    id ${text} not null,
    notification_id ${text} not null,
    seq bigint not null,
    about ${text} not null,
    created_at bigint not null,
    state ${text} not null,
    body ${text},
    tries bigint not null,
    due_at bigint not null,
    leased_until bigint not null,
    ended_at bigint,
    last_error ${text},
    primary key (project_id, id)
  )`,
  'create index notice_state on notice (project_id, state, notification_id, seq)',
  'create index notice_end on notice (project_id, notification_id, ended_at)',

  `create table notice_cursor (
    project_id ${text} not null references project (id),
    seq bigint not null,
    primary key (project_id)
  )`,
]

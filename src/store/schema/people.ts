import type { TableStatements } from './table-statements.ts'

/** People, members, tokens, sign-in sessions and machines. They belong to the reserved project `server`. */
export const peopleTables: TableStatements = ({ text }) => [
  `create table person (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    name ${text} not null,
    email ${text},
    issuer ${text},
    subject ${text},
    admin bigint not null,
    disabled_at bigint,
    created_at bigint not null,
    primary key (project_id, id)
  )`,
  'create index person_email on person (email)',
  'create index person_name on person (name)',
  'create unique index person_subject on person (project_id, issuer, subject)',

  `create table member (
    project_id ${text} not null references project (id),
    person_id ${text} not null,
    seq bigint not null,
    access ${text} not null,
    roles ${text} not null,
    primary key (project_id, person_id)
  )`,
  'create index member_person on member (person_id)',

  `create table token (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    name ${text} not null,
    kind ${text} not null,
    only_project ${text},
    role ${text},
    person_id ${text} not null,
    created_at bigint not null,
    expires_at bigint not null,
    revoked_at bigint,
    revoked_by ${text},
    max_access ${text},
    created_by ${text},
    parent_id ${text},
    primary key (project_id, id)
  )`,
  'create index token_person on token (person_id, seq)',
  'create index token_parent on token (parent_id)',

  `create table session (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    person_id ${text} not null,
    token_id ${text},
    started_at bigint not null,
    expires_at bigint not null,
    ended_at bigint,
    primary key (project_id, id)
  )`,
  'create index session_person on session (person_id, seq)',

  // Hashes of secrets: not in the log, so a replay does not create them.
  `create table secret (
    project_id ${text} not null references project (id),
    id ${text} not null,
    hash ${text} not null,
    used_at bigint,
    primary key (project_id, id)
  )`,

  `create table machine (
    project_id ${text} not null references project (id),
    id ${text} not null,
    name ${text} not null,
    token ${text} not null,
    version ${text} not null,
    trusts_commands integer not null,
    seen_at bigint not null,
    primary key (project_id, id)
  )`,
]

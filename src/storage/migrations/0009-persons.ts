import type { Migration } from './migration.ts'

/** Who may use a server, and as what. Persons, tokens and sessions belong to the reserved project `server`. */
export const persons: Migration = {
  version: 9,
  title: 'persons, members, tokens and sessions',
  destructive: false,
  statements: ({ text }) => [
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
      primary key (project_id, id)
    )`,
    'create index token_person on token (person_id, seq)',
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
    'alter table command_result add column by_runner bigint not null default 0',
    // The one thing of an identity that no fact holds, and so no replay makes.
    `create table secret (
      project_id ${text} not null references project (id),
      id ${text} not null,
      hash ${text} not null,
      used_at bigint,
      primary key (project_id, id)
    )`,
  ],
}

import type { Migration } from './migration.ts'

/** Who acted beyond a name; and keys that belong to whoever sent them. */
export const identities: Migration = {
  version: 3,
  title: 'identities of who acts, and whose an idempotency key is',
  destructive: false,
  statements: ({ text }) => [
    `alter table run_approval add column identity ${text}`,
    `alter table run_artifact add column author ${text}`,
    `alter table run_event add column author ${text}`,
    `alter table run_event add column key_owner ${text}`,
    'drop index run_event_key',
    'create unique index run_event_key on run_event (project_id, run_id, idempotency_key, key_owner)',

    // A key of before has no owner: it is found by everybody, and hands its answer to nobody.
    `create table owned_command (
      project_id ${text} not null references project (id),
      owner ${text} not null,
      idempotency_key ${text} not null,
      connection ${text},
      operation ${text} not null,
      input_hash ${text} not null,
      answer ${text} not null,
      seq bigint not null,
      created_at bigint not null,
      primary key (project_id, owner, idempotency_key)
    )`,
    `insert into owned_command
      select project_id, '', idempotency_key, null, operation, input_hash, answer, seq, created_at from command`,
    'drop table command',
    'alter table owned_command rename to command',
  ],
}

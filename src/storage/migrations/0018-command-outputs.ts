import type { Migration } from './migration.ts'

/** What commands printed, where it is too long for a fact: it can be removed, and the fact keeps its hash. */
export const commandOutputs: Migration = {
  version: 18,
  title: 'what commands printed',
  destructive: false,
  statements: ({ text, engine }) => [
    `create table command_output (
      project_id ${text} not null references project (id),
      command_id ${text} not null,
      sha256 ${text} not null,
      bytes bigint not null,
      content ${engine === 'postgres' ? 'bytea' : 'blob'} not null,
      removed_at bigint,
      primary key (project_id, command_id)
    )`,
  ],
}

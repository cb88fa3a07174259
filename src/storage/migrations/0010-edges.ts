import type { Migration } from './migration.ts'

/** The machines where agents work, what they sent of it, and how long their commands are believed to run. */
export const edges: Migration = {
  version: 10,
  title: 'edges, diffs and leases',
  destructive: false,
  statements: ({ text, engine }) => [
    `create table edge (
      project_id ${text} not null references project (id),
      id ${text} not null,
      name ${text} not null,
      token ${text} not null,
      version ${text} not null,
      seen_at bigint not null,
      queued bigint not null,
      oldest_queued_at bigint,
      primary key (project_id, id)
    )`,
    `create table attempt_diff (
      project_id ${text} not null references project (id),
      attempt_id ${text} not null,
      sha256 ${text} not null,
      bytes bigint not null,
      cut bigint not null,
      content ${engine === 'postgres' ? 'bytea' : 'blob'} not null,
      primary key (project_id, attempt_id)
    )`,
    `create table command_lease (
      project_id ${text} not null references project (id),
      command_id ${text} not null,
      until bigint not null,
      primary key (project_id, command_id)
    )`,
  ],
}

import type { Migration } from './migration.ts'

/** What other tools say of lines of commits, as it was imported. */
export const lineClaims: Migration = {
  version: 21,
  title: 'claims of lines',
  destructive: false,
  statements: ({ text }) => [
    `create table line_claim (
      project_id ${text} not null references project (id),
      seq bigint not null,
      position bigint not null,
      commit_id ${text} not null,
      path ${text} not null,
      body ${text} not null,
      primary key (project_id, seq, position)
    )`,
    'create index line_claim_commit on line_claim (project_id, commit_id)',
  ],
}

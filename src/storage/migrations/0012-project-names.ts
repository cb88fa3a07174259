import type { Migration } from './migration.ts'

/** What projects are called in a database that several machines use; one on a server had the table before its schema. */
export const projectNames: Migration = {
  version: 12,
  title: 'names of projects',
  destructive: false,
  statements: ({ text }) => [
    `create table if not exists project_name (
      name ${text} not null primary key,
      project_id ${text} not null unique
    )`,
  ],
}

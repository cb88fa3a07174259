import type { Migration } from './migration.ts'

/** Where a project went, and which one is on its way here. */
export const moving: Migration = {
  version: 11,
  title: 'projects that move',
  destructive: false,
  statements: ({ text }) => [
    `create table project_move (
      project_id ${text} not null primary key references project (id),
      seq bigint not null,
      place ${text} not null,
      moved_at bigint not null
    )`,
    // It may be there before the project is.
    `create table project_arrival (
      project_id ${text} not null primary key,
      began_at bigint not null
    )`,
  ],
}

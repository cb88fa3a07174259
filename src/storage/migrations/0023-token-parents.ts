import type { Migration } from './migration.ts'

/** Who made a token, and with which other one. */
export const tokenParents: Migration = {
  version: 23,
  title: 'who made a token, and with which one',
  destructive: false,
  statements: ({ text }) => [
    `alter table token add column created_by ${text}`,
    `alter table token add column parent_id ${text}`,
    'create index token_parent on token (parent_id)',
  ],
}

import type { Migration } from './migration.ts'

/** What the end of an attempt looks for is found by one look into an index, however large its mission is. */
export const largeMissions: Migration = {
  version: 15,
  title: 'missions of thousands of tasks',
  destructive: false,
  statements: () => [
    `create index mission_change_file on mission_change (project_id, mission_id, path)
      where change <> 'none' and origin <> 'imported'`,
    'create index attempt_first on attempt (project_id, mission_id, tree_top, opened_at, seq)',
  ],
}

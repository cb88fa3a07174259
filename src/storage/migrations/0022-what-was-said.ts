import type { Migration } from './migration.ts'

/** What a person said of what waited, in a word: of holds that ended before, it is not known. */
export const whatWasSaid: Migration = {
  version: 22,
  title: 'what was said of holds',
  destructive: false,
  statements: ({ text }) => [
    `alter table hold add column said ${text}`,
    // What was said in a mission is asked with its context, again and again.
    'create index review_mission on review (project_id, mission_id, seq)',
  ],
}

import type { Migration } from './migration.ts'

/** What a token lets at most, whatever its person may. Those from before set no limit. */
export const tokenLimits: Migration = {
  version: 19,
  title: 'what a token lets at most',
  destructive: false,
  statements: ({ text }) => [`alter table token add column most ${text}`],
}

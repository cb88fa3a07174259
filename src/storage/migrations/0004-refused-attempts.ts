import type { Migration } from './migration.ts'

/** What a refused event came with. */
export const refusedAttempts: Migration = {
  version: 4,
  title: 'what was tried by an event that was refused',
  destructive: false,
  statements: ({ text }) => [`alter table run_refusal add column tried ${text}`],
}

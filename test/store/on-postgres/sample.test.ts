import { alsoOnPostgres } from './on-postgres.ts'

// The rest of them is in the soak run.
for (const file of [
  'track/flows.test.ts',
  'track/inbox-items.test.ts',
  'plan/next.test.ts',
  'gate/runs/tried.test.ts',
  'notifications/edit.test.ts',
  'people/invitations.test.ts',
])
  alsoOnPostgres(file)

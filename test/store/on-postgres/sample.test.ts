import { alsoOnPostgres } from './on-postgres.ts'

// The rest of them is in the soak run.
for (const file of ['track/flows.test.ts', 'notifications/edit.test.ts']) alsoOnPostgres(file)

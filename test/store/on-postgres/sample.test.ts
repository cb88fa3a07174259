import { alsoOnPostgres } from './on-postgres.ts'

// The rest of them is in the soak run.
alsoOnPostgres('track/flows.test.ts')

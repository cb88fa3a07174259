import { globSync } from 'node:fs'
import { join } from 'node:path'
import { alsoOnPostgres } from './on-postgres.ts'

const tests = join(import.meta.dirname, '..', '..')
// They open the project's file themselves, or start processes that do.
const ofFiles = ['gate/runs/waiting.test.ts', 'plan/concurrency.test.ts']

for (const file of globSync(
  [
    'track/*.test.ts',
    'plan/*.test.ts',
    'gate/runs/*.test.ts',
    'people/*.test.ts',
    'notifications/edit.test.ts',
  ],
  {
    cwd: tests,
  },
).toSorted())
  if (!ofFiles.includes(file)) alsoOnPostgres(file)

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { alsoOnPostgres } from '../on-postgres/on-postgres.ts'

const tests = join(import.meta.dirname, '..')

for (const file of globSync(['track/*.test.ts', 'plan/*.test.ts', 'gate/runs/*.test.ts'], {
  cwd: tests,
}).toSorted())
  alsoOnPostgres(file)

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** The files of which `npm test` does less: those that ask how much, and those that draw their cases. */
const shortened = ['test', 'src', 'web']
  .flatMap((folder) =>
    readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  )
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) =>
    /support\/amount\.ts|isQuick|fast-check/.test(readFileSync(join(import.meta.dirname, name), 'utf8')),
  )

/**
 * The long runs, apart from `npm test`, which they leave to chance and minutes: several servers, kills, faults of a connection,
 * suites of third parties, every screen in a browser, and all of what `npm test` does less of. Of each kind `npm test` has a
 * small case: test/plan/concurrency several processes and a kill, test/store/postgres/servers several servers,
 * test/surfaces/mcp both eras of the protocol against its schemas, test/web fifteen journeys.
 */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/**/*.soak.test.ts', ...shortened],
    env: { WAYMARK_TEST_SOAK: '1' },
    // Some tests are run a second time by another one, which imports them.
    execArgv: [],
    exclude: ['node_modules/**'],
    testTimeout: 600_000,
  },
})

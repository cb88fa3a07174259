import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { longTests } from './test/long-tests.ts'
import config from './vitest.config.ts'

/** The files of which `npm test` does less: those that ask how much. */
const shortened = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('test', name))
  .filter((name) => /support\/amount\.ts|isQuick/.test(readFileSync(join(import.meta.dirname, name), 'utf8')))

/** The long runs, apart from `npm test`: many processes, many rounds, and all of what `npm test` does less of. */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/soak/**/*.test.ts', ...longTests, ...shortened],
    env: { WAYMARK_TEST_SOAK: '1' },
    exclude: ['node_modules/**'],
    testTimeout: 600_000,
  },
})

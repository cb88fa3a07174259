import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** The long runs, apart from `npm test`: many processes, many rounds. */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/soak/**/*.test.ts'],
    exclude: ['node_modules/**'],
    testTimeout: 600_000,
  },
})

import { defineConfig } from 'vitest/config'
import { longTests } from './test/long-tests.ts'
import config from './vitest.config.ts'

/** The long runs, apart from `npm test`: many processes, many rounds, and all of what `npm test` does less of. */
export default defineConfig({
  test: {
    ...config.test,
    include: [
      'test/soak/**/*.test.ts',
      ...longTests,
      'test/plan/concurrency.test.ts',
      'test/contract/store/{follow,plan-graph,run-restore}.test.ts',
      'test/contract/store/{runs,plan-tasks,run-evidence}.test.ts',
      'test/contract/store/postgres/servers.test.ts',
      'test/gate/run-properties.test.ts',
      'test/evidence/random.test.ts',
      'test/freeze/freeze.test.ts',
      'test/track/mission-state.test.ts',
      'test/transfer/transfer.test.ts',
    ],
    env: { WAYMARK_TEST_SOAK: '1' },
    exclude: ['node_modules/**'],
    testTimeout: 600_000,
  },
})

import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.ts'
import { roomForYoung } from './test/support/room-for-young.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts'],
    exclude: ['**/*.soak.test.ts', 'node_modules/**'],
    // They end what hangs; a machine that is busy with something else is several times as slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    // Tests wait for the processes that they start, so one more than the cores of a small machine. Each worker compiles
    // all modules by itself: with a fourth one a run takes 30 s more of processor time, and is not shorter.
    maxWorkers: 3,
    // No file leaves anything behind in its process, so the modules that all of them import are read once.
    isolate: false,
    // Node runs the modules as they are: nothing is transformed first.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', new URL('test/support/plain-imports.mjs', import.meta.url).href, ...roomForYoung],
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/properties.ts'],
    globalSetup: [
      'test/support/own-environment.ts',
      'test/support/quiet-git.ts',
      'test/support/fresh-bundle.ts',
      'test/support/postgres/run.ts',
    ],
  },
})

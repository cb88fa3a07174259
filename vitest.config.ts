import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Starting a process costs as much as its parent has in memory. So the files that start git most go first, while the
 * workers are small, then the longest ones, and at the end the short ones with a browser, which fill the cores evenly.
 */
const order: readonly RegExp[] = [
  /\/test\/evidence\//,
  /\/test\/(track|commands|gate\/runs)\/|\/src\/git\//,
  /\/test\/(web\/screens|conformance\/|mcp-http\/inspector|http\/unread|gate\/concurrency\/|contract\/store\/sqlite\/processes)/,
]
const last = /\/(test\/web|web\/views)\//

class ByWhatTheyStart extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = order.findIndex((pattern) => pattern.test(moduleId))
      if (found !== -1) return found
      return last.test(moduleId) ? order.length + 1 : order.length
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts'],
    exclude: ['test/soak/**', 'node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Tests wait for the processes that they start, so one more than the cores of a small machine.
    maxWorkers: 3,
    // No file leaves anything behind in its process, so the modules that all of them import are read once.
    isolate: false,
    sequence: { sequencer: ByWhatTheyStart },
    globalSetup: ['test/support/quiet-git.ts', 'test/support/fresh-bundle.ts'],
  },
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestCase } from 'vitest/node'

export const flakyFile = join(import.meta.dirname, '..', '.cache', 'flaky.json')

/** Notes every test that passed on its second try only. */
export default class FlakyReporter implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#names.push(test.fullName)
  }

  onTestRunEnd(): void {
    writeFileSync(flakyFile, JSON.stringify(this.#names))
  }
}

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestCase } from 'vitest/node'

export const flakyFile = join(import.meta.dirname, '..', '.cache', 'flaky.json')

/** Notes every test that passed on its second try only, with what was wrong at the first. */
export default class FlakyReporter implements Reporter {
  readonly #notes: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return
    const [first] = test.result().errors ?? []
    this.#notes.push(`${test.fullName} passed on its second try only: ${first?.message ?? 'no error'}`)
  }

  onTestRunEnd(): void {
    writeFileSync(flakyFile, JSON.stringify(this.#notes))
  }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Of few words, but of ten seconds and more. */
const longest = [
  'web/journeys',
  'lines/git-commands',
  'review/edge',
  'reports/check',
  'gate/commands/inside-command',
  'store/on-postgres/sample',
  'surfaces/mcp/http/notifications',
].map((name) => join(import.meta.dirname, '..', 'test', `${name}.test.ts`))

/**
 * Begins with the tests that take longest, so that none of them is left to the end, where the others have nothing to do.
 * Vitest does so by the times of earlier runs; where a file had none it takes how long its text is.
 */
export class LongestFirst extends BaseSequencer {
  constructor(...given: ConstructorParameters<typeof BaseSequencer>) {
    super(...given)
    const missing = longest.filter((file) => !existsSync(file))
    if (missing.length > 0) throw new Error(`No such tests: ${missing.join(', ')}`)
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => longest.includes(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** The part of vitest's JSON report that is counted. */
export interface VitestResults {
  readonly numPassedTests: number
  readonly numFailedTestSuites: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

export interface Tally {
  readonly passed: number
  /** The names of everything that failed. */
  readonly failures: readonly string[]
}

/** Why a test failed: the first lines of what it said, in which a property names its seed. */
export function failureReason(results: VitestResults, name: string): string {
  const found = results.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ fullName, status }) => fullName === name && status === 'failed')
  const [message = ''] = found?.failureMessages ?? []
  return message.split('\n').slice(0, 3).join(' ').slice(0, 300)
}

/** What passed and failed: tests, files that could not be loaded, and the other checks. */
export function tally(results: VitestResults | null, failedChecks: readonly string[]): Tally {
  const files = results?.testResults ?? []
  const tests = files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ fullName }) => fullName)
  const unloaded = files
    .filter(({ status, assertionResults }) => {
      return status === 'failed' && assertionResults.every((test) => test.status !== 'failed')
    })
    .map(({ name }) => name)
  return { passed: results?.numPassedTests ?? 0, failures: [...tests, ...unloaded, ...failedChecks] }
}

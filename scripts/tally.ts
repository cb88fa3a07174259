/** The part of vitest's JSON report that is counted. */
export interface VitestResults {
  readonly numPassedTests: number
  readonly numFailedTestSuites: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

export interface Tally {
  readonly passed: number
  /** The names of everything that failed. */
  readonly failures: readonly string[]
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

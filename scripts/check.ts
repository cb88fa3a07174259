// Everything that must hold before a change is kept: format, lint, types, dead code, tests, the ledger of requirements.
// The last line is `N passed, M failed`; a check that fails counts as one failure.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flakyFile } from './flaky-reporter.ts'
import { ledgerProblems } from './requirements.mjs'
import { tally, type VitestResults } from './tally.ts'

interface Check {
  readonly name: string
  readonly words: readonly [string, ...string[]]
}

const root = join(import.meta.dirname, '..')
const resultsFile = join(root, '.cache', 'vitest.json')
// Names the files with which all checks last passed.
const passedFile = join(root, '.cache', 'checked')

// They run beside the tests, one at a time: what is left of them after the tests would have one core alone. Two threads of
// the compiler look up the same types twice, and its collector of memory takes a third of its time. So it has one, and
// collects only what is too much. Longest first.
const compiler = { GOMAXPROCS: '1', GOGC: 'off', GOMEMLIMIT: '3GiB' }
const types = ['tsc', '--noEmit', '--checkers', '1', '-p'] as const
const checks: readonly Check[] = [
  { name: 'lint (oxlint)', words: ['oxlint', '--type-aware'] },
  { name: 'types (tsc)', words: [...types, '.'] },
  { name: 'types of the dashboard (tsc)', words: [...types, 'web'] },
  { name: 'types of its tests (tsc)', words: [...types, 'test/web'] },
  { name: 'dead code (knip)', words: ['knip'] },
  { name: 'format and lint (biome)', words: ['biome', 'ci', '--colors=off', '.'] },
]

process.exitCode = (await checkAll()) ? 0 : 1

async function checkAll(): Promise<boolean> {
  const failed: string[] = []
  // It says what it does while it does it.
  const { code } = await run(['node', 'scripts/browser.mjs'], 'inherit')
  if (code !== 0) failed.push('browser of the tests')
  const [haveRun, outcomes] = await Promise.all([testsRun(), checkedBeside()])
  if (!haveRun) failed.push('the test run itself')
  // The tests write over what is said meanwhile.
  for (const { name, isPassed, seconds, output } of outcomes) {
    const time = seconds === null ? 'passed before with the same files' : `${seconds.toFixed(1)} s`
    console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}, ${time}`)
    if (isPassed) continue
    console.log(output)
    failed.push(name)
  }
  const results = readResults()
  const problems = results === null ? ['There are no results of tests.'] : ledgerProblems(results)
  for (const problem of problems) console.log(`requirements: ${problem}`)
  if (problems.length > 0) failed.push('requirements')
  const counted = tally(results, failed)
  for (const name of counted.failures) console.log(`failed: ${name}`)
  for (const note of flakyTests()) console.log(`flaky: ${note}`)
  if (process.env['WAYMARK_TEST_POSTGRES'] === 'none')
    console.log('Left out: every test on PostgreSQL, because WAYMARK_TEST_POSTGRES is none.')
  if (!existsSync(join(root, '.cache', 'clients', 'node_modules')))
    console.log(
      'Left out: the tests with real clients, because they are not here: npm run clients fetches them.',
    )
  console.log(`${counted.passed} passed, ${counted.failures.length} failed`)
  return counted.failures.length === 0
}

interface CheckOutcome extends Pick<Check, 'name'> {
  readonly isPassed: boolean
  /** Null if it was not run, because it passed before with the same files. */
  readonly seconds: number | null
  readonly output: string
}

async function checkedBeside(): Promise<readonly CheckOutcome[]> {
  const files = filesHash()
  if (files !== null && existsSync(passedFile) && readFileSync(passedFile, 'utf8') === files)
    return checks.map(({ name }) => ({ name, isPassed: true, seconds: null, output: '' }))
  const outcomes: CheckOutcome[] = []
  for (const { name, words } of checks) {
    const startedAt = performance.now()
    const { code, output } = await run(words, 'pipe')
    const seconds = (performance.now() - startedAt) / 1000
    outcomes.push({ name, isPassed: code === 0, seconds, output })
  }
  // If a file has changed meanwhile, nobody knows which version was checked.
  if (files !== null && outcomes.every(({ isPassed }) => isPassed) && filesHash() === files)
    writeFileSync(passedFile, files)
  return outcomes
}

/** A hash of all that checks read: the files that git tracks or would add, and the installed packages. Null without git. */
function filesHash(): string | null {
  const hash = createHash('sha256').update(process.version)
  try {
    const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const names = execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
    for (const name of [...new Set(names), 'node_modules/.package-lock.json']) {
      const path = join(root, name)
      hash.update(`\0${name}\0`).update(existsSync(path) ? readFileSync(path) : 'missing')
    }
    return hash.digest('hex')
  } catch {
    return null
  }
}

async function testsRun(): Promise<boolean> {
  rmSync(resultsFile, { force: true })
  rmSync(flakyFile, { force: true })
  const reporters = [
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${resultsFile}`,
    `--reporter=${join(root, 'scripts', 'flaky-reporter.ts')}`,
  ]
  const { code } = await run(['vitest', 'run', ...reporters], 'inherit')
  return code === 0 || (readResults()?.numFailedTestSuites ?? 0) > 0
}

function flakyTests(): readonly string[] {
  return existsSync(flakyFile) ? JSON.parse(readFileSync(flakyFile, 'utf8')) : []
}

function readResults(): VitestResults | null {
  return existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : null
}

function run(
  [program, ...words]: Check['words'],
  output: 'pipe' | 'inherit',
): Promise<{ readonly code: number | null; readonly output: string }> {
  const isNode = program === 'node'
  const child = spawn(isNode ? process.execPath : join(root, 'node_modules', '.bin', program), words, {
    cwd: root,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...compiler, ...temporaryFiles() },
    shell: process.platform === 'win32' && !isNode,
  })
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null; output: string }>()
  child.on('error', reject)
  child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString('utf8') }))
  return promise
}

/** Where the tests' many small repositories and databases lie: in memory where there is room, and programs may run. */
function temporaryFiles(): { readonly TMPDIR?: string } {
  const memory = '/dev/shm'
  if (process.env['TMPDIR'] || !existsSync(memory)) return {}
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize > 4e9 ? { TMPDIR: memory } : {}
  } catch {
    return {}
  }
}

// npm run steady [times] [busy]: runs the test suite again and again, and prints each failure with its seed and the load.
// `busy` keeps two processes computing beside it. The conditions change from run to run: PATH with programs that Waymark
// looks for, a folder for temporary files with a space and an umlaut, language, time zone. Run it by hand.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { flakyFile } from './flaky-reporter.ts'
import { failureReason, tally, type VitestResults } from './tally.ts'

const root = join(import.meta.dirname, '..')
const times = Number(process.argv[2] ?? 5)
const isBusy = process.argv.includes('busy')
const folder = mkdtempSync(join(tmpdir(), 'steady-'))
// Some tests give up the rights of root: what they start must get into their folders for temporary files.
chmodSync(folder, 0o755)

const conditions: readonly Readonly<Record<string, string>>[] = [
  {},
  { PATH: `${foreignPrograms()}${delimiter}${process.env.PATH}` },
  { TMPDIR: temporaryFolder('with a späce') },
  { LANG: 'C', TZ: 'Pacific/Chatham', HOME: temporaryFolder('home') },
  { LANG: 'tr_TR.UTF-8', TZ: 'America/St_Johns', NO_COLOR: '1', CI: 'true' },
]

const beside = isBusy ? [compute(), compute()] : []
let green = 0
const allSeconds: number[] = []
for (let run = 1; run <= times; run += 1) {
  const condition = conditions[(run - 1) % conditions.length] ?? {}
  const began = Date.now()
  const names = await failuresOf(condition)
  const seconds = Math.round((Date.now() - began) / 1000)
  if (names.length === 0) green += 1
  allSeconds.push(seconds)
  console.log(
    `run ${run}: ${names.length === 0 ? 'green' : 'red'}, ${seconds} s, load ${loadavg()[0]?.toFixed(1)}, ${JSON.stringify(condition)}`,
  )
  for (const name of names) console.log(`  ${name}`)
}
for (const child of beside) child.kill()
rmSync(folder, { recursive: true, force: true })
console.log(
  `${green} of ${times} green${isBusy ? ' beside two busy processes' : ''}, ${Math.min(...allSeconds)} to ${Math.max(...allSeconds)} s, as ${userInfo().username}`,
)
process.exitCode = green === times ? 0 : 1

/** What failed, or passed on its second try only. */
async function failuresOf(condition: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const results = join(folder, 'results.json')
  rmSync(results, { force: true })
  rmSync(flakyFile, { force: true })
  const words = [
    'run',
    '--reporter=json',
    `--outputFile.json=${results}`,
    `--reporter=${join(root, 'scripts', 'flaky-reporter.ts')}`,
  ]
  const child = spawn(join(root, 'node_modules', '.bin', 'vitest'), words, {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, ...condition },
  })
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve))
  if (!existsSync(results)) return ['the run itself']
  const found: VitestResults = JSON.parse(readFileSync(results, 'utf8'))
  const failures = tally(found, []).failures.map((name) => `${name}: ${failureReason(found, name)}`)
  const flaky: readonly string[] = existsSync(flakyFile) ? JSON.parse(readFileSync(flakyFile, 'utf8')) : []
  const outside = code !== 0 && failures.length === 0 ? [`an error outside of tests, exit code ${code}`] : []
  return [...failures, ...outside, ...flaky.map((note) => `flaky: ${note}`)]
}

/** Programs that tests must not find, in a folder of their own. */
function foreignPrograms(): string {
  const path = temporaryFolder('bin')
  for (const name of ['waymark', 'claude', 'code', 'codex', 'gemini']) {
    writeFileSync(join(path, name), '#!/bin/sh\necho "not for tests"\nexit 3\n')
    chmodSync(join(path, name), 0o755)
  }
  return path
}

function temporaryFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

function compute(): ChildProcess {
  return spawn(process.execPath, ['-e', 'for (;;) Math.sqrt(Math.random())'], { stdio: 'ignore' })
}

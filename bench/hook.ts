import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { serverEnvironment } from '../test/support/stdio-project.ts'

// What a hook costs from spawn to exit, beside an empty process and one that opens SQLite: node bench/hook.ts [rounds].
// Needs a build. Reading certificates takes Node longer than the hook, so NODE_EXTRA_CA_CERTS is left out.

const rounds = Number(process.argv[2] ?? 30)
const bin = join(import.meta.dirname, '..', 'bin', 'waymark.js')
const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const env = { ...serverEnvironment(join(home, 'state')), NODE_EXTRA_CA_CERTS: '' }
const options = { cwd: home, env }

function waymark(...words: readonly string[]): string {
  return execFileSync(process.execPath, [bin, ...words], options).toString()
}

const openSqlite = `
  const Database = require(${JSON.stringify(join(import.meta.dirname, '..', 'node_modules', 'better-sqlite3'))})
  new Database(${JSON.stringify(join(home, '.waymark', 'waymark.db'))}).prepare('select 1 from task').all()`

function said(tool: string, path: string): string {
  const input = { file_path: join(home, path) }
  return JSON.stringify({ cwd: home, hook_event_name: 'PreToolUse', tool_name: tool, tool_input: input })
}

interface Measured {
  readonly what: string
  readonly words: readonly string[]
  readonly input: string
  readonly spent: number[]
}

function measured(what: string, words: readonly string[], input = ''): Measured {
  return { what, words, input, spent: [] }
}

function once({ what, words, input }: Measured): number {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, words, { ...options, input, encoding: 'utf8' })
  const spent = performance.now() - start
  if (status !== 0 || stderr !== '') throw new Error(`${what} ended with ${status}: ${stderr}`)
  return spent
}

try {
  execFileSync('git', ['init', '-q'], options)
  waymark('mission', 'start', 'Sign in', '--objective', 'People can sign in')
  waymark('task', 'start', 'Add the form', '--areas', 'src/auth/')
  waymark('create-run', 'feature')
  const subjects = [
    measured('node -e 0', ['-e', '0']),
    measured('node, opening SQLite', ['-e', openSqlite]),
    measured('pre-tool-use, nothing to say', [bin, 'hook', 'pre-tool-use'], said('Read', 'src/app.ts')),
    measured('pre-tool-use, denied', [bin, 'hook', 'pre-tool-use'], said('Bash', 'src/app.ts')),
    measured('session-start', [bin, 'hook', 'session-start'], JSON.stringify({ cwd: home })),
    measured('stop', [bin, 'hook', 'stop'], JSON.stringify({ cwd: home })),
  ]
  for (const subject of subjects) once(subject) // the first start fills the compile cache
  // In turns, so that what else the machine does weighs on all alike.
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) subject.spent.push(once(subject))
  }
  console.log('| process | least ms | median ms |\n|---|---|---|')
  for (const { what, spent } of subjects) {
    const sorted = spent.toSorted((one, other) => one - other)
    const at = (share: number) => (sorted[Math.floor(rounds * share)] ?? Number.NaN).toFixed(0)
    console.log(`| ${what} | ${at(0)} | ${at(0.5)} |`)
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}

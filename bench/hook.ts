import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once as onceOf } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { serverEnvironment } from '../test/support/stdio-project.ts'

// What a hook costs from spawn to exit, beside an empty process and one that opens SQLite, also on a machine that is
// connected to a server: node bench/hook.ts [rounds].
// A git command that may destroy work costs a status of the tree and 120 ms at most, by processor time. Needs a build.
// Reading certificates takes Node longer than the hook, so NODE_EXTRA_CA_CERTS is left out.

const rounds = Number(process.argv[2] ?? 30)
/** Milliseconds that a hook may take in all. */
const limit = 120
const bin = join(import.meta.dirname, '..', 'bin', 'waymark.js')
const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const env = { ...serverEnvironment(join(home, 'state')), NODE_EXTRA_CA_CERTS: '' }
const options = { cwd: home, env }

function waymark(...words: readonly string[]): string {
  return execFileSync(process.execPath, [bin, ...words], options).toString()
}

/** A machine that is connected to a server, with the same work in it. */
async function connectedMachine() {
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0'], options)
  let greeting = ''
  child.stdout.on('data', (data: Buffer) => {
    greeting += data.toString()
  })
  const address = /http:\/\/[^/\s]+:\d+/
  while (!/MCP:/.test(greeting)) await onceOf(child.stdout, 'data')
  const folder = join(home, 'elsewhere', 'shop')
  mkdirSync(folder, { recursive: true })
  const there = {
    cwd: folder,
    env: { ...serverEnvironment(join(home, 'elsewhere')), NODE_EXTRA_CA_CERTS: '' },
  }
  const run = (words: readonly string[], more = {}) =>
    execFileSync(process.execPath, [bin, ...words], {
      ...there,
      env: { ...there.env, ...more },
      stdio: 'pipe',
    })
  execFileSync('git', ['init', '-q'], there)
  run(['connect', address.exec(greeting)?.[0] ?? ''], {
    WAYMARK_TOKEN: JSON.parse(waymark('token', 'create', 'far', '--json')).secret,
  })
  run(['task', 'start', 'Add the page', '--areas', 'src/auth/'])
  return { there, child }
}

const openSqlite = `
  const Database = require(${JSON.stringify(join(import.meta.dirname, '..', 'node_modules', 'better-sqlite3'))})
  new Database(${JSON.stringify(join(home, '.waymark', 'waymark.db'))}).prepare('select 1 from task').all()`

function said(tool: string, path: string, cwd = home): string {
  const input = { file_path: join(cwd, path) }
  return JSON.stringify({ cwd, hook_event_name: 'PreToolUse', tool_name: tool, tool_input: input })
}

function shell(command: string): string {
  return JSON.stringify({
    cwd: home,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
  })
}

/** The median of the processor time that a program and its children take, in milliseconds. */
function processorTime(program: string, words: readonly string[], input: string): number {
  const script = `
    const { spawnSync } = require('node:child_process')
    const [program, words, input] = JSON.parse(process.argv[1])
    const readStat = () => require('node:fs').readFileSync('/proc/self/stat', 'utf8').split(' ')
    const spent = []
    for (let round = 0; round < ${rounds}; round += 1) {
      const start = readStat()
      spawnSync(program, words, { input })
      const end = readStat()
      spent.push([15, 16].reduce((sum, at) => sum + Number(end[at]) - Number(start[at]), 0) * 10)
    }
    console.log(spent.sort((a, b) => a - b)[Math.floor(spent.length / 2)])`
  const given = JSON.stringify([program, words, input])
  return Number(execFileSync(process.execPath, ['-e', script, given], options).toString())
}

/** What a guarded command costs beside another one, with a status of the same tree. Needs Linux. */
function printGuard(): void {
  const hook = [bin, 'hook', 'pre-tool-use']
  const time = {
    status: processorTime('git', ['status', '--porcelain'], ''),
    other: processorTime(process.execPath, hook, shell('ls')),
    guarded: processorTime(process.execPath, hook, shell('git reset --hard')),
  }
  const most = time.other + time.status + limit
  console.log('\n| before a shell command | processor ms | limit |\n|---|---|---|')
  console.log(`| git status of the tree | ${time.status} | |`)
  console.log(`| ls | ${time.other} | |`)
  console.log(`| git reset --hard | ${time.guarded} | ${most}${time.guarded > most ? ' (over)' : ''} |`)
}

interface Measured {
  readonly what: string
  readonly words: readonly string[]
  readonly input: string
  readonly spent: number[]
  readonly where: typeof options
}

function measured(
  what: string,
  words: readonly string[],
  input = '',
  { where = options }: Partial<Pick<Measured, 'where'>> = {},
): Measured {
  return { what, words, input, spent: [], where }
}

function once({ what, words, input, where }: Measured): number {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, words, { ...where, input, encoding: 'utf8' })
  const spent = performance.now() - start
  if (status !== 0 || stderr !== '') throw new Error(`${what} ended with ${status}: ${stderr}`)
  return spent
}

let server: ReturnType<typeof spawn> | null = null
try {
  execFileSync('git', ['init', '-q'], options)
  for (let n = 0; n < 2000; n += 1) writeFileSync(join(home, `file-${n}.txt`), `${n}\n`)
  execFileSync('git', ['add', '-A'], options)
  execFileSync(
    'git',
    ['-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-qm', 'first'],
    options,
  )
  waymark('mission', 'start', 'Sign in', '--objective', 'People can sign in')
  waymark('task', 'start', 'Add the form', '--areas', 'src/auth/')
  waymark('run', 'create', 'feature')
  const { there: where, child } = await connectedMachine()
  server = child
  const outside = said('Write', 'src/app.ts', where.cwd)
  const subjects = [
    measured('node -e 0', ['-e', '0']),
    measured('node, opening SQLite', ['-e', openSqlite]),
    measured('pre-tool-use, nothing to say', [bin, 'hook', 'pre-tool-use'], said('Read', 'src/app.ts')),
    measured('pre-tool-use, denied', [bin, 'hook', 'pre-tool-use'], said('Bash', 'src/app.ts')),
    measured('session-start', [bin, 'hook', 'session-start'], JSON.stringify({ cwd: home })),
    measured('stop', [bin, 'hook', 'stop'], JSON.stringify({ cwd: home })),
    measured('at a remote machine, asking the server', [bin, 'hook', 'pre-tool-use'], outside, { where }),
  ]
  for (const subject of subjects) once(subject) // the first start fills the compile cache
  // In turns, so that what else the machine does weighs on all alike.
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) subject.spent.push(once(subject))
  }
  console.log('| process | least ms | median ms | limit |\n|---|---|---|---|')
  for (const { what, words, spent } of subjects) {
    const sorted = spent.toSorted((one, other) => one - other)
    const at = (share: number) => (sorted[Math.floor(rounds * share)] ?? Number.NaN).toFixed(0)
    const most = words[0] === bin ? `${limit}${Number(at(0.5)) > limit ? ' (over)' : ''}` : ''
    console.log(`| ${what} | ${at(0)} | ${at(0.5)} | ${most} |`)
  }
  if (process.platform === 'linux') printGuard()
} finally {
  server?.kill()
  rmSync(home, { recursive: true, force: true })
}

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once as onceOf } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { serverEnvironment } from '../test/support/stdio-project.ts'

// What a hook costs from spawn to exit, beside an empty process and one that opens SQLite, also on a machine that is
// connected to a server: node bench/hook.ts [rounds].
// A git command that may destroy work makes a client wait for a status of the tree and 120 ms at most, and a stop whose work
// is checked 120 ms: beside the processor time, by the hook alone and where an agent's server answers it. Needs a build.
// Reading certificates takes Node longer than the hook, so NODE_EXTRA_CA_CERTS is left out.

const rounds = Number(process.argv[2] ?? 30)
/** Milliseconds that a hook may take in all. */
const limit = 120
const bin = join(import.meta.dirname, '..', 'bin', 'waymark.js')
const top = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const home = join(top, 'project')
const env = { ...serverEnvironment(join(top, 'state')), NODE_EXTRA_CA_CERTS: '' }
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
  const folder = join(top, 'elsewhere', 'shop')
  mkdirSync(folder, { recursive: true })
  const there = {
    cwd: folder,
    env: { ...serverEnvironment(join(top, 'elsewhere')), NODE_EXTRA_CA_CERTS: '' },
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

interface Cost {
  /** The mean processor time of the program and its children, in milliseconds. */
  readonly processor: number
  /** The median time that it took, in milliseconds. */
  readonly wall: number
}

/**
 * What programs cost, run in turns; with what a server spends for them, if they ask one. Needs Linux, which counts the time
 * of children.
 */
function costs(programs: Readonly<Record<string, Program>>, server?: number): Readonly<Record<string, Cost>> {
  const script = `
    const { spawnSync } = require('node:child_process')
    const programs = Object.entries(JSON.parse(process.argv[1]))
    const spentBy = (process, own) => {
      const fields = require('node:fs').readFileSync('/proc/' + process + '/stat', 'utf8').split(') ').at(-1).split(' ')
      return Number(fields[13]) + Number(fields[14]) + (own ? Number(fields[11]) + Number(fields[12]) : 0)
    }
    const hundredths = () => spentBy('self', false) + ${server === undefined ? 0 : `spentBy(${server}, true)`}
    const spent = new Map(programs.map(([name]) => [name, { processor: 0, walls: [] }]))
    for (let round = 0; round < ${rounds}; round += 1) {
      for (const [name, { program, words, input, wanted }] of programs) {
        const [before, start] = [hundredths(), performance.now()]
        const { status, stdout } = spawnSync(program, words, { input, encoding: 'utf8' })
        spent.get(name).walls.push(performance.now() - start)
        spent.get(name).processor += (hundredths() - before) * 10
        if (status !== 0 || !stdout.includes(wanted)) throw new Error(name + ' answered ' + stdout)
      }
    }
    const costs = [...spent].map(([name, { processor, walls }]) => {
      const wall = walls.sort((a, b) => a - b)[Math.floor(${rounds} / 2)]
      return [name, { processor: Math.round(processor / ${rounds}), wall: Math.round(wall) }]
    })
    console.log(JSON.stringify(Object.fromEntries(costs)))`
  return JSON.parse(
    execFileSync(process.execPath, ['-e', script, JSON.stringify(programs)], options).toString(),
  )
}

interface Program {
  readonly program: string
  readonly words: readonly string[]
  readonly input: string
  /** A part of its answer. */
  readonly wanted: string
}

/** The server of an agent in the project, which answers hooks. */
async function startAgentServer() {
  const child = spawn(process.execPath, [bin, 'mcp'], options)
  const clientInfo = { name: 'claude-code', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  const sockets = join(top, 'state', 'state', 'waymark', 'hooks')
  while (!existsSync(sockets) || !readdirSync(sockets).some((name) => name.endsWith('.sock'))) await sleep(50)
  return child
}

/** A guarded command and a checked stop, beside another command and a status of the same tree. */
function guardPrograms(): Readonly<Record<string, Program>> {
  const hook = (event: string, input: string, wanted = ''): Program => {
    return { program: process.execPath, words: [bin, 'hook', event], input, wanted }
  }
  const stop = JSON.stringify({ cwd: home, hook_event_name: 'Stop', stop_hook_active: false })
  return {
    'node -e 0': { program: process.execPath, words: ['-e', '0'], input: '', wanted: '' },
    'git status of the tree': { program: 'git', words: ['status', '--porcelain'], input: '', wanted: '' },
    'before `ls`': hook('pre-tool-use', shell('ls')),
    'before `git reset --hard`': hook('pre-tool-use', shell('git reset --hard')),
    'at a stop that is refused': hook('stop', stop, '"block"'),
  }
}

async function printGuard(): Promise<void> {
  waymark('setting', 'set', 'stop_hook', 'block_once')
  waymark('setting', 'set', 'done_when', '{"keeps": ["file-0.txt"]}')
  writeFileSync(join(home, 'file-0.txt'), 'changed\n')
  const programs = guardPrograms()
  const alone = costs(programs)
  const agentServer = await startAgentServer()
  // In the first calls the server loads its parts.
  for (const { program, words, input } of Object.values(programs)) {
    spawnSync(program, words, { ...options, input })
  }
  const answered = costs(programs, agentServer.pid)
  agentServer.kill()
  waymark('setting', 'set', 'stop_hook', 'warn')
  const most: Readonly<Record<string, number>> = {
    'before `git reset --hard`': (alone['git status of the tree']?.processor ?? 0) + limit,
    'at a stop that is refused': limit,
  }
  console.log(
    '\n| process | processor ms | median ms | limit | processor ms, answered by the agent’s server | median ms |',
  )
  console.log('|---|---|---|---|---|---|')
  for (const [name, own] of Object.entries(alone)) {
    const allowed = most[name]
    const marked = (wall: number) => `${wall}${allowed !== undefined && wall > allowed ? ' (over)' : ''}`
    const there = answered[name]
    const served = there ? `${there.processor} | ${marked(there.wall)}` : ' | '
    console.log(`| ${name} | ${own.processor} | ${marked(own.wall)} | ${allowed ?? ''} | ${served} |`)
  }
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

/** In turns, so that what else the machine does weighs on all alike. */
function measureInTurns(subjects: readonly Measured[]): void {
  for (const subject of subjects) once(subject) // the first start fills the compile cache
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) subject.spent.push(once(subject))
  }
}

let server: ReturnType<typeof spawn> | null = null
try {
  mkdirSync(home)
  execFileSync('git', ['init', '-q'], options)
  for (let n = 0; n < 2000; n += 1) writeFileSync(join(home, `file-${n}.txt`), `${n}\n`)
  execFileSync('git', ['add', '-A'], options)
  execFileSync(
    'git',
    ['-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-qm', 'first'],
    options,
  )
  waymark('mission', 'start', 'Sign in', '--objective', 'People can sign in')
  // By the agent that asks hooks, and stops.
  execFileSync(process.execPath, [bin, 'task', 'start', 'Add the form', '--areas', 'src/auth/'], {
    ...options,
    env: { ...env, CLAUDECODE: '1' },
  })
  waymark('run', 'create', 'feature')
  // Before a server runs in the project, which would answer its hooks.
  if (process.platform === 'linux') await printGuard()
  const subjects = [
    measured('node -e 0', ['-e', '0']),
    measured('node, opening SQLite', ['-e', openSqlite]),
    measured('pre-tool-use, nothing to say', [bin, 'hook', 'pre-tool-use'], said('Read', 'src/app.ts')),
    measured('pre-tool-use, denied', [bin, 'hook', 'pre-tool-use'], said('Bash', 'src/app.ts')),
    measured('session-start', [bin, 'hook', 'session-start'], JSON.stringify({ cwd: home })),
    measured('stop', [bin, 'hook', 'stop'], JSON.stringify({ cwd: home })),
  ]
  measureInTurns(subjects)
  const { there: where, child } = await connectedMachine()
  server = child
  const outside = said('Write', 'src/app.ts', where.cwd)
  const remote = measured('at a remote machine, asking the server', [bin, 'hook', 'pre-tool-use'], outside, {
    where,
  })
  measureInTurns([remote])
  console.log('| process | least ms | median ms | limit |\n|---|---|---|---|')
  for (const { what, words, spent } of [...subjects, remote]) {
    const sorted = spent.toSorted((one, other) => one - other)
    const at = (share: number) => (sorted[Math.floor(rounds * share)] ?? Number.NaN).toFixed(0)
    const most = words[0] === bin ? `${limit}${Number(at(0.5)) > limit ? ' (over)' : ''}` : ''
    console.log(`| ${what} | ${at(0)} | ${at(0.5)} | ${most} |`)
  }
} finally {
  server?.kill()
  rmSync(top, { recursive: true, force: true })
}

import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { Answer } from '../test/support/project.ts'
import { serverEnvironment } from '../test/support/stdio-project.ts'
import { fill } from './stdio/fill.ts'
import { type BenchedProcess, handshake, startProcess } from './stdio/server-process.ts'

// What Waymark costs on stdio, beside the barest JSON-RPC loop: node bench/stdio.ts [tasks]. Needs a build.

const tasks = Number(process.argv[2] ?? 10_000)
const starts = 25
const calls = 200
const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const options = { cwd: home, env: serverEnvironment(join(home, 'state')) }
const waymark = [join(import.meta.dirname, '..', 'bin', 'waymark.js'), 'mcp']
const bareLoop = [join(import.meta.dirname, 'stdio', 'bare-loop.mjs')]

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function startUp(words: readonly string[]): Promise<number> {
  let started: BenchedProcess | undefined
  const spent = await timed(async () => {
    started = startProcess(words, options)
    await started.ask('initialize', handshake)
  })
  await started?.end()
  return spent
}

async function call(server: BenchedProcess, name: string, input: object): Promise<Answer> {
  const { result } = await server.ask('tools/call', { name, arguments: input })
  if (result.isError) throw new Error(result.content[0].text)
  return result.structuredContent
}

/** A figure, and the most that it may be where there is such a limit. */
function show(what: string, value: number, most: number | null = null): void {
  const limit = most === null ? '' : `${most}${value > most ? ' (over)' : ''}`
  console.log(`| ${what} | ${value.toFixed(value < 100 ? 2 : 0)} | ${limit} |`)
}

async function compareStarts(): Promise<void> {
  const first = startProcess(waymark, options)
  await first.ask('initialize', handshake)
  await sleep(1500) // the compile cache is written a second after the start
  await first.end()
  const bare: number[] = []
  const own: number[] = []
  for (let round = 0; round < starts; round += 1) {
    bare.push(await startUp(bareLoop))
    own.push(await startUp(waymark))
  }
  show('bare loop, spawn to answer, ms', median(bare))
  show('spawn to `initialize` answered, ms', median(own))
  show('times the bare loop', median(own) / median(bare), 2.5)
}

/** Calls in turn, so that what else the machine does weighs on all alike. */
async function compareCalls(server: BenchedProcess): Promise<void> {
  const bareServer = startProcess(bareLoop, options)
  await call(server, 'taskman_init', {})
  await call(server, 'taskman_phase_add', { id: 'bench', name: 'Bench', 'sort-order': 10 })
  const { id } = await call(server, 'taskman_task_add', { title: 'The one that is read', phase: 'bench' })
  const bare: number[] = []
  const ping: number[] = []
  const get: number[] = []
  for (let round = 0; round < 2_000; round += 1) {
    bare.push(await timed(() => bareServer.ask('ping', {})))
    ping.push(await timed(() => server.ask('ping', {})))
    get.push(await timed(() => call(server, 'taskman_task_get', { id })))
  }
  await bareServer.end()
  const warm = (spent: readonly number[]) => median(spent.slice(spent.length / 2))
  show('bare loop, one answer, ms', warm(bare))
  show('`ping`, ms', warm(ping))
  show('times the bare loop', warm(ping) / warm(bare), 2)
  show('`taskman_task_get`, ms', warm(get))
  show('times the bare loop', warm(get) / warm(bare), 4)
}

async function costOfLists(server: BenchedProcess): Promise<void> {
  show('memory after `initialize`, MiB', server.usage().memory, 75)
  const { tools } = (await server.ask('tools/list', {})).result
  const shown = tools.map(({ name, description, inputSchema }: Answer) => ({
    name,
    description,
    inputSchema,
  }))
  const tokens = (parts: readonly unknown[]) =>
    parts.reduce<number>((sum, part) => sum + countTokens(JSON.stringify(part)), 0)
  show(`tokens of the ${tools.length} tools`, tokens(shown), 6000)
  show('tokens of their outputs', tokens(tools.map(({ outputSchema }: Answer) => outputSchema)), 5000)
}

async function costOfCalls(server: BenchedProcess): Promise<void> {
  const { mission_id } = await call(server, 'start_mission', { name: 'Bench', objective: 'Measure' })
  await fill(home, mission_id, tasks)
  const { task_id } = await call(server, 'start_task', { mission_id, name: 'The one that is open' })
  const decision = {
    task_id,
    category: 'other',
    question: 'Which?',
    chosen: 'This',
    reasoning: 'It is smaller.',
  }
  const include = ['decisions', 'milestones', 'blockers', 'phase_summary', 'tasks']
  const inputs: readonly (readonly [string, object, number])[] = [
    ['log_decision', decision, 1],
    ['log_milestone', { task_id, message: 'Half way', progress: 50 }, 1],
    ['get_context', { mission_id, include }, 2],
  ]
  for (const [tool, input, most] of inputs) {
    const spent: number[] = []
    for (let round = 0; round < calls; round += 1) spent.push(await timed(() => call(server, tool, input)))
    show(`\`${tool}\` with ${tasks.toLocaleString('en')} tasks, ms`, median(spent), most)
  }
  show('memory after these calls, MiB', server.usage().memory)
}

execFileSync('git', ['init', '-q'], { cwd: home })
writeFileSync(join(home, 'README.md'), '# Bench\n')
try {
  console.log('| what | measured | at most |\n|---|---|---|')
  await compareStarts()
  const server = startProcess(waymark, options)
  await server.ask('initialize', handshake)
  await costOfLists(server)
  await compareCalls(server)
  await costOfCalls(server)
  await server.end()
} finally {
  rmSync(home, { recursive: true, force: true })
}

import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomIds } from '../src/store/random-ids.ts'
import { openStore } from '../src/store/store.ts'
import { fillPlan } from '../test/plan/fill-plan.ts'
import type { Answer } from '../test/support/project.ts'
import { serverEnvironment } from '../test/support/stdio-project.ts'
import { bareInsert } from './plan/bare-insert.ts'
import { type Timing, timings } from './plan/timing.ts'
import { type BenchedProcess, handshake, startProcess } from './stdio/server-process.ts'

// What planning costs over stdio, beside a bare JSON-RPC loop and a bare durable insert in the same run.
// node bench/plan.ts [tasks,tasks…] [rounds]. Needs a build.

const sizes = (process.argv[2] ?? '1000,10000,100000').split(',').map(Number)
const rounds = Number(process.argv[3] ?? 200)
const waymark = [join(import.meta.dirname, '..', 'bin', 'waymark.js'), 'mcp']
const bareLoop = [join(import.meta.dirname, 'stdio', 'bare-loop.mjs')]
const phases = Array.from({ length: 10 }, (_, index) => `P${index + 1}`)

function show(what: string, { median, p95, least }: Timing, aim: string): void {
  const cells = [median, p95, least].map((value) => value.toFixed(2))
  console.log(`| ${what} | ${cells.join(' | ')} | ${aim} |`)
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
  const folder = join(home, 'tree')
  execFileSync('git', ['init', '-q', folder])
  try {
    await work(folder)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function serverIn(folder: string, words: readonly string[]): Promise<BenchedProcess> {
  const server = startProcess(words, { cwd: folder, env: serverEnvironment(join(folder, '..')) })
  await server.ask('initialize', handshake)
  return server
}

function caller(server: BenchedProcess) {
  return async (name: string, input: object): Promise<Answer> => {
    const { result } = await server.ask('tools/call', { name, arguments: input })
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`)
    return result.structuredContent
  }
}

/** Fills the plan through the store, as seeding by calls would take minutes. Answers the ids. */
async function fill(folder: string, tasks: number): Promise<readonly string[]> {
  const file = join(folder, '.waymark', 'waymark.db')
  const store = openStore({ file, shared: false, root: folder, sandboxJournal: false, ids: randomIds })
  const ids = await fillPlan(store, tasks, phases)
  await store.close()
  return ids
}

async function floors(folder: string): Promise<void> {
  const bare = await serverIn(folder, bareLoop)
  show('bare JSON-RPC loop', await timings(rounds, () => bare.ask('ping', {})), '')
  await bare.end()
  const { insert, close } = bareInsert(join(folder, '..'))
  show('bare insert and commit', await timings(rounds, insert), '')
  close()
}

async function atSize(folder: string, tasks: number): Promise<void> {
  const planner = await serverIn(folder, waymark)
  const first = caller(planner)
  for (const [index, id] of phases.entries()) {
    await first('taskman_phase_add', { id, name: `Phase ${id}`, 'sort-order': index })
  }
  await planner.end()
  const ids = await fill(folder, tasks)
  const server = await serverIn(folder, waymark)
  const call = caller(server)
  const some = (round: number) => ids[(round * 7919) % ids.length] ?? ''
  const added: string[] = []
  const planned = { phase: 'P1', description: 'With tests and docs.', role: 'developer' }
  const add = async (round: number) =>
    added.push((await call('taskman_task_add', { title: `Task ${round}`, ...planned })).id)
  const list = (input: object) => () => call('taskman_task_list', input)
  const measured: readonly (readonly [string, (round: number) => unknown, string])[] = [
    ['ping', () => server.ask('ping', {}), ''],
    ['get', (round) => call('taskman_task_get', { id: some(round) }), '0.25'],
    ['add', add, '1'],
    ['edit: title', (round) => call('taskman_task_edit', { id: some(round), title: `New ${round}` }), '1'],
    ['edit: claim', (round) => call('taskman_task_edit', { id: added[round], status: 'in_progress' }), '1'],
    ['edit: release', (round) => call('taskman_task_edit', { id: added[round], status: 'to_do' }), '1'],
    ['edit: done', (round) => call('taskman_task_edit', { id: added[round], status: 'done' }), '1'],
    ['dep_add', (round) => call('taskman_task_dep_add', pairOf(ids, round)), ''],
    ['next', () => call('taskman_task_next', {}), ''],
    ['next: role', () => call('taskman_task_next', { role: 'qa-engineer' }), ''],
    ['next: claim', () => call('taskman_task_next', { claim: true }), ''],
    ['list: default page', list({}), '1'],
    ['list: phase and status', list({ phase: 'P3', status: 'to_do' }), '1'],
    ['list: role', list({ role: 'qa-engineer' }), ''],
    ['list: ready', list({ ready: true }), ''],
    ['list: search', list({ search: 'number 77' }), ''],
    ['list: 1,000 rows', list({ limit: 1000 }), '8'],
  ]
  for (const [what, work, aim] of measured) {
    const few = what.startsWith('list: 1,000') || what === 'list: search' ? Math.ceil(rounds / 10) : rounds
    show(`${tasks.toLocaleString('en')} tasks: ${what}`, await timings(few, work), aim)
  }
  console.log(
    `| ${tasks.toLocaleString('en')} tasks: memory, MiB | ${server.usage().memory.toFixed(0)} | | | |`,
  )
  await server.end()
}

/** Two tasks that nothing links yet, the later after the earlier. */
function pairOf(ids: readonly string[], round: number): object {
  return { 'task-id': ids[2 * round + 2], 'dep-id': ids[2 * round + 1] }
}

console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.versions.node}\n`)
console.log('| what, ms | median | 95 % | least | at most |\n|---|---|---|---|---|')
await inFolder(floors)
for (const tasks of sizes) await inFolder((folder) => atSize(folder, tasks))

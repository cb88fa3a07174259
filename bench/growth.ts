import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeContext, openContext } from '../src/app/open-context.ts'
import type { Actor } from '../src/kernel/actor.ts'
import { catalog, type OperationName } from '../src/kernel/operations/catalog.ts'
import { invoke } from '../src/kernel/operations/invoke.ts'
import type { Answer } from '../test/support/project.ts'
import { serverEnvironment } from '../test/support/stdio-project.ts'
import { fillRecord, leaveAttemptsOpen } from './growth/fill.ts'

// What operations cost in a record of some size, in this process: node scripts/run.mjs bench/growth.ts [tasks,tasks…] [rounds].
// Each task is one to three events: half are planned, half were completed in missions that ended.

const sizes = (process.argv[2] ?? '1000,10000,100000').split(',').map(Number)
const rounds = Number(process.argv[3] ?? 20)
/** How many times as much the largest record may cost, unless the answer or its work is larger by nature. */
const maxFactor = 1.5
const phases = Array.from({ length: 10 }, (_, index) => `P${index + 1}`)
const agent: Actor = { name: 'bench', kind: 'agent', role: null, channel: 'stdio' }
const person: Actor = { name: 'Tess', kind: 'person', role: null, channel: 'cli' }

type Call = (name: OperationName, input: object, actor?: Actor) => Promise<Answer>
type Measured = readonly [what: string, work: (round: number) => Promise<unknown>]

/** Operations that do not show the whole record. */
function operations(call: Call, ids: readonly string[]): readonly Measured[] {
  const some = (round: number) => ids[(round * 7919) % ids.length]
  const list = (input: object) => () => call('taskman_task_list', input)
  let task = ''
  return [
    ['show a task', (round) => call('show', { id: some(round) })],
    ['show a task with its links', (round) => call('show', { id: some(round), include: ['links'] }, person)],
    ['show an ended task', (round) => call('show', { id: `t-ended-${round}` })],
    ['move a task', (round) => call('plan_move', { id: some(round), before: some(round + 10) }, person)],
    ['list tasks', list({})],
    ['list tasks: ready', list({ ready: true })],
    ['list tasks: search', list({ search: 'number 77' })],
    ['list tasks: search for a word of no task', list({ search: 'zebra' })],
    ['list tasks: unassigned', list({ unassigned: true })],
    ['next task', () => call('taskman_task_next', {})],
    ['add a task', (round) => call('taskman_task_add', { title: `New ${round}`, phase: 'P1' })],
    [
      'start a task',
      async () => (task = (await call('start_task', { name: 'New', areas: ['src/**'] })).task_id),
    ],
    ['log a milestone', () => call('log_milestone', { task_id: task, message: 'Half', progress: 50 })],
    [
      'complete a task',
      async (round) => {
        const { task_id } = await call('start_task', { name: `Done ${round}`, areas: ['docs/**'] })
        const outcome = { summary: 'Done.', no_change_reason: 'Measured.' }
        await call('complete_task', { task_id, status: 'success', outcome })
      },
    ],
    ['get the context', () => call('get_context', { mission_id: 'm-ended-1', include: ['tasks'] })],
    ['status', () => call('status', {}, person)],
    ['inbox', () => call('inbox', {}, person)],
    ['board', () => call('board', {}, person)],
    ['log', () => call('log', {}, person)],
    ['list missions', () => call('list_missions', {}, person)],
    ['search', () => call('search', { words: 'number 77' }, person)],
    ['statistics', () => call('stats', {}, person)],
    ['statistics: all', () => call('stats', { since: 'all' }, person)],
    ['plan', () => call('plan_show', {}, person)],
    ['plan: tasks of a phase', () => call('plan_show', { phase: 'P1' }, person)],
    ['dependencies of the plan', () => call('plan_dependencies', {}, person)],
  ]
}

/** The median of the processor time of one call, in milliseconds: others use the machine too. */
async function processorTime(work: Measured[1]): Promise<number> {
  const spent: number[] = []
  for (let round = 0; round < rounds + 2; round += 1) {
    const before = process.cpuUsage()
    await work(round)
    const { user, system } = process.cpuUsage(before)
    if (round >= 2) spent.push((user + system) / 1000)
  }
  return spent.toSorted((one, other) => one - other)[Math.floor(spent.length / 2)] ?? Number.NaN
}

async function atSize(tasks: number): Promise<ReadonlyMap<string, number>> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
  const folder = join(home, 'tree')
  execFileSync('git', ['init', '-q', folder])
  const environment = serverEnvironment(home)
  const context = openContext({ actor: agent, environment, workingFolder: folder })
  const call: Call = (name, input, actor = agent) => {
    const operation = catalog.find((one) => one.name === name)
    if (!operation) throw new Error(`no operation ${name}`)
    return invoke(operation, { ...context, actor }, input)
  }
  try {
    for (const [at, id] of phases.entries())
      await call('taskman_phase_add', { id, name: `Phase ${id}`, 'sort-order': at })
    const ids = await fillRecord(context.store, tasks, phases)
    const lastCallAt = Date.now() - 3 * 3_600_000
    await leaveAttemptsOpen(context.store, folder, { count: Math.ceil(tasks / 100), lastCallAt })
    const found = new Map<string, number>()
    for (const [what, work] of operations(call, ids)) found.set(what, await processorTime(work))
    return found
  } finally {
    await closeContext(context)
    rmSync(home, { recursive: true, force: true })
  }
}

const formatted = (size = 0) => size.toLocaleString('en')
console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.versions.node}`)
console.log('Milliseconds of processor time in this process, medians.\n')
const found: ReadonlyMap<string, number>[] = []
for (const tasks of sizes) found.push(await atSize(tasks))
console.log(
  `| operation | ${sizes.map((size) => `${formatted(size)} tasks`).join(' | ')} | × from ${formatted(sizes[0])} to ${formatted(sizes.at(-1))} |`,
)
console.log(`|---|${sizes.map(() => '---|').join('')}---|`)
for (const what of found[0]?.keys() ?? []) {
  const times = found.map((one) => one.get(what) ?? Number.NaN)
  const factor = (times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN)
  const over = factor > maxFactor ? ' (over)' : ''
  console.log(`| ${[what, ...times.map((time) => time.toFixed(1)), factor.toFixed(1) + over].join(' | ')} |`)
}
console.log(`
Over ${maxFactor} times as much is marked. A plan of at most 500 tasks is shown whole, a larger one by its phases, with pages of at
most 500 tasks. Longer answers and more work by nature: a phase has ten times as many tasks, so its page has 66 kB instead of 7
and its dependencies have 166 kB instead of 17; a list by words fills its page; up to 100 agents are at work instead of 10
(\`status\`, \`board\`). \`search\` looks through the newest 5,000 tasks, of which the smallest record has 1,000. SQLite has an index
of the parts of words; PostgreSQL looks for a word of no task in the text of every open task. 48 attempts end each day:
statistics read those of 30 days, 1,400 of them, which the smallest record has 500 of; with \`--since all\` every one.`)

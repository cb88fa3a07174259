import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { randomIds } from '../src/store/random-ids.ts'
import { openStore } from '../src/store/store.ts'
import { fillPlan } from '../test/plan/fill-plan.ts'
import type { Answer } from '../test/support/project.ts'
import { type BenchedProcess, handshake, startProcess } from './stdio/server-process.ts'

// What Waymark costs beside two task tools from npm, over MCP on stdio: node bench/peers.ts [rounds] [starts]. Needs a
// build, and once the npm registry, for 1.5 GB. Task Master calls a tracking service when a client connects, so all of
// this runs in a namespace without a network, which needs Linux.

const [rounds = 30, starts = 9] = process.argv.slice(2).map(Number)
const tasks = 2000
const versions = { 'task-master-ai': '0.43.1', 'backlog.md': '1.52.0' }
const cache = join(import.meta.dirname, '..', '.cache', 'peers')
const isolated = 'WAYMARK_BENCH_ISOLATED'

type Call = readonly [tool: string, input: object]

interface Subject {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

interface Tool {
  readonly name: string
  readonly version: string
  readonly words: readonly string[]
  readonly options: Subject
  readonly create: (title: string) => Call
  /** Reads the task in the middle. */
  readonly read: Call
  readonly list: (cursor: string | null) => Call
}

interface Running extends Tool {
  readonly server: BenchedProcess
}

const goal = (number: number) => `Implement the thing number ${number}, with tests and docs.`
const numbers = Array.from({ length: tasks }, (_, number) => number)
const middle = tasks / 2

/** An empty repository, and an environment that knows nothing of this machine's own tools. */
function subject(home: string, name: string, more: Readonly<Record<string, string>> = {}): Subject {
  const cwd = join(home, name, 'tree')
  execFileSync('git', ['init', '-q', cwd])
  return { cwd, env: { PATH: process.env['PATH'] ?? '', HOME: join(home, name), ...more } }
}

function commit(cwd: string): void {
  execFileSync('git', ['add', '-A'], { cwd })
  const author = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost']
  execFileSync('git', [...author, 'commit', '-q', '--allow-empty', '-m', 'Plan'], { cwd })
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

async function waymark(home: string): Promise<Tool> {
  const words = [join(import.meta.dirname, '..', 'bin', 'waymark.js'), 'mcp']
  const options = subject(home, 'waymark')
  const server = await connected({ words, options })
  await call(server, ['taskman_init', {}])
  await call(server, ['taskman_phase_add', { id: 'P1', name: 'Phase P1', 'sort-order': 0 }])
  await sleep(1500) // the compile cache is written a second after the start
  await server.end()
  const file = join(options.cwd, '.waymark', 'waymark.db')
  const store = openStore({ file, shared: false, root: options.cwd, sandboxJournal: false, ids: randomIds })
  const ids = await fillPlan(store, tasks)
  await store.close()
  commit(options.cwd)
  return {
    name: 'Waymark',
    version: '',
    words,
    options,
    create: (title) => ['taskman_task_add', { title, description: goal(0), phase: 'P1' }],
    read: ['taskman_task_get', { id: ids[middle] }],
    list: (cursor) => ['taskman_task_list', { limit: 1000, ...(cursor !== null && { cursor }) }],
  }
}

async function taskMaster(home: string): Promise<Tool> {
  const words = [join(cache, 'node_modules', 'task-master-ai', 'dist', 'mcp-server.js')]
  // Its default set of tools has none that creates a task.
  const options = subject(home, 'task-master', { TASK_MASTER_TOOLS: 'standard' })
  const projectRoot = options.cwd
  const server = await connected({ words, options })
  await call(server, [
    'initialize_project',
    { projectRoot, initGit: false, addAliases: false, skipInstall: true },
  ])
  await server.end()
  const planned = numbers.map((number) => ({
    id: number + 1,
    title: `Task number ${number}`,
    description: goal(number),
    details: '',
    testStrategy: '',
    status: 'pending',
    dependencies: number % 2 === 1 ? [number] : [],
    priority: 'medium',
    subtasks: [],
  }))
  const file = join(projectRoot, '.taskmaster', 'tasks', 'tasks.json')
  write(file, JSON.stringify({ master: { tasks: planned, metadata: {} } }, null, 2))
  commit(projectRoot)
  return {
    name: 'Task Master',
    version: versions['task-master-ai'],
    words,
    options,
    create: (title) => ['add_task', { title, description: goal(0), projectRoot }],
    read: ['get_task', { id: String(middle + 1), projectRoot }],
    list: () => ['get_tasks', { projectRoot }],
  }
}

function backlog(home: string): Tool {
  const program = join(cache, 'node_modules', 'backlog.md', 'cli.js')
  const options = subject(home, 'backlog')
  const setUp = [program, 'init', 'Bench', '--defaults', '--integration-mode', 'mcp']
  execFileSync(process.execPath, setUp, { ...options, stdio: 'ignore' })
  for (const number of numbers) {
    const lines = [
      '---',
      `id: TASK-${number + 1}`,
      `title: Task number ${number}`,
      'status: To Do',
      'assignee: []',
      "created_date: '2026-01-01 00:00'",
      'labels: []',
      `dependencies: [${number % 2 === 1 ? `TASK-${number}` : ''}]`,
      `ordinal: ${number + 1}000`,
      '---',
      '\n## Description\n',
      `<!-- SECTION:DESCRIPTION:BEGIN -->\n${goal(number)}\n<!-- SECTION:DESCRIPTION:END -->\n`,
    ]
    const name = `task-${number + 1} - Task-number-${number}.md`
    write(join(options.cwd, 'backlog', 'tasks', name), lines.join('\n'))
  }
  commit(options.cwd)
  return {
    name: 'Backlog.md',
    version: versions['backlog.md'],
    words: [program, 'mcp', 'start'],
    options,
    create: (title) => ['task_create', { title, description: goal(0) }],
    read: ['task_view', { id: `TASK-${middle + 1}` }],
    list: () => ['task_list', {}],
  }
}

async function connected({ words, options }: Pick<Tool, 'words' | 'options'>): Promise<BenchedProcess> {
  const server = startProcess(words, options)
  await server.ask('initialize', handshake)
  server.notify('notifications/initialized')
  return server
}

async function call(server: BenchedProcess, [name, input]: Call): Promise<Answer> {
  const { result, error } = await server.ask('tools/call', { name, arguments: input })
  if (error || result.isError) throw new Error(`${name}: ${JSON.stringify(error ?? result)}`)
  return result
}

/** What an agent reads of an answer. */
const textOf = ({ content }: Answer): string => content.map(({ text }: Answer) => text).join('\n')

async function listed({ server, list }: Running): Promise<string> {
  const pages: string[] = []
  let cursor: string | null = null
  do {
    const page: Answer = await call(server, list(cursor))
    pages.push(textOf(page))
    cursor = page.structuredContent?.next_cursor ?? null
  } while (cursor !== null)
  return pages.join('\n')
}

/** Fails unless a text has so many different tasks of this name: figures of work that was not done mean nothing. */
function expectTasks({ name }: Tool, text: string, title: string, expected: number): void {
  const found = new Set([...text.matchAll(new RegExp(`${title} (\\d+)`, 'g'))].map(([, number]) => number))
  if (found.size !== expected)
    throw new Error(`${name} lists ${found.size} tasks "${title} …", not ${expected}.`)
}

interface Cost {
  readonly spent: number
  readonly processor: number
}

/** Each in turn, so that what else the machine does weighs on all alike. The first round does not count. */
async function inTurns<Each>(
  times: number,
  all: readonly Each[],
  work: (one: Each, round: number) => Promise<Cost>,
) {
  const costs = all.map((one) => ({ one, measured: [] as Cost[] }))
  for (let round = 0; round <= times; round += 1) {
    for (const { one, measured } of costs) measured.push(await work(one, round))
  }
  return costs.map(({ measured: [, ...counted] }) => ({
    spent:
      counted.map(({ spent }) => spent).toSorted((one, other) => one - other)[Math.floor(times / 2)] ??
      Number.NaN,
    processor: counted.reduce((sum, { processor }) => sum + processor, 0) / times,
  }))
}

/** A figure of each tool, and which has the least. */
function show(tools: readonly Tool[], what: string, values: readonly number[], digits = 0): void {
  const cells = tools.map((_, index) => (values[index] ?? Number.NaN).toFixed(digits))
  const least = Math.min(...cells.map(Number))
  const ahead = tools.filter((_, index) => Number(cells[index]) === least)
  console.log(`| ${[what, ...cells, ahead.map(({ name }) => name).join(', ')].join(' | ')} |`)
}

function showCosts(tools: readonly Tool[], what: string, costs: readonly Cost[], digits: number): void {
  show(
    tools,
    `${what}, ms`,
    costs.map(({ spent }) => spent),
    digits,
  )
  show(
    tools,
    'processor time of it, ms',
    costs.map(({ processor }) => processor),
    digits,
  )
}

async function measure(home: string): Promise<void> {
  const tools = [await waymark(home), await taskMaster(home), backlog(home)]
  console.log(
    `| ${tasks.toLocaleString('en')} tasks | ${tools.map(({ name, version }) => `${name} ${version}`.trim()).join(' | ')} | least |`,
  )
  console.log(`|---|${'---|'.repeat(tools.length + 1)}`)

  const bare = {
    words: [join(import.meta.dirname, 'stdio', 'bare-loop.mjs')],
    options: subject(home, 'bare'),
  }
  const started = await inTurns(starts, [...tools, bare], async (tool) => {
    const start = performance.now()
    const server = await connected(tool)
    const cost = { spent: performance.now() - start, processor: server.usage().processor }
    await server.end()
    return cost
  })
  showCosts(tools, 'spawn to `initialize` answered', started, 0)

  const running: Running[] = []
  for (const tool of tools) running.push({ ...tool, server: await connected(tool) })
  const offered: Answer[][] = []
  for (const { server } of running) offered.push((await server.ask('tools/list', {})).result.tools)
  const tokens = ({ name, description, inputSchema }: Answer) =>
    countTokens(JSON.stringify({ name, description, inputSchema }))
  show(
    tools,
    'tools',
    offered.map(({ length }) => length),
  )
  show(
    tools,
    'tokens of the tools',
    offered.map((list) => list.reduce((sum, tool) => sum + tokens(tool), 0)),
  )
  show(
    tools,
    'memory then, MiB',
    running.map(({ server }) => server.usage().memory),
  )

  /** Shows what the work costs. Answers the last text that each tool answered. */
  const compare = async (
    what: string,
    times: number,
    work: (tool: Running, round: number) => Promise<string>,
  ) => {
    const texts = new Map<Running, string>()
    const costs = await inTurns(times, running, async (tool, round) => {
      const before = tool.server.usage().processor
      const start = performance.now()
      texts.set(tool, await work(tool, round))
      return { spent: performance.now() - start, processor: tool.server.usage().processor - before }
    })
    showCosts(tools, what, costs, 1)
    show(
      tools,
      'tokens of the answer',
      [...texts.values()].map((text) => countTokens(text)),
    )
    return texts
  }
  const create = (tool: Running, round: number) =>
    call(tool.server, tool.create(`Created ${round}`)).then(textOf)
  await compare('create a task', rounds, create)
  const read = await compare('read a task', rounds, (tool) => call(tool.server, tool.read).then(textOf))
  for (const [{ name }, text] of read) {
    if (!text.includes(goal(middle))) throw new Error(`${name} answers another task: ${text}`)
  }
  const lists = await compare('list all tasks', Math.ceil(rounds / 3), listed)
  for (const [tool, text] of lists) {
    expectTasks(tool, text, 'Task number', tasks)
    expectTasks(tool, text, 'Created', rounds + 1)
  }
  show(
    tools,
    'memory at the end, MiB',
    running.map(({ server }) => server.usage().memory),
  )
  for (const { server } of running) await server.end()

  const floor = started[tools.length]
  console.log(`
Medians of ${starts} starts, ${rounds} calls and ${Math.ceil(rounds / 3)} lists; means of processor time. A bare JSON-RPC loop in Node answers ${floor?.spent.toFixed(0)} ms
after its spawn, with ${floor?.processor.toFixed(0)} ms of processor time.`)
}

function install(): void {
  const isThere = ([name, version]: readonly string[]) => {
    const file = join(cache, 'node_modules', name ?? '', 'package.json')
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version
  }
  if (Object.entries(versions).every(isThere)) return
  console.error(`Installing ${Object.keys(versions).join(' and ')} in ${cache}: 1.5 GB.`)
  write(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies: versions }))
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', words, { cwd: cache, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm install in ${cache} ended with ${status}.`)
}

if (process.env[isolated] === undefined) {
  install()
  const words = ['-rn', process.execPath, ...process.argv.slice(1)]
  const env = { ...process.env, [isolated]: '1' }
  const { status, error } = spawnSync('unshare', words, { stdio: 'inherit', env })
  if (error) throw error
  process.exitCode = status ?? 1
} else {
  if (Object.keys(networkInterfaces()).length > 0) throw new Error('There is a network: no peer starts.')
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
  try {
    await measure(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

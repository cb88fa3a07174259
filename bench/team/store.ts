import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { closeContext, openContext } from '../../src/app/open-context.ts'
import type { WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { type Interval, obey, sideBySide } from './child.ts'

// Whole operations over the store, as one replica runs them: everything but HTTP. Words: a folder, and the database's
// URL for PostgreSQL. The work tree is measured where the agent is, so that here its answers are at hand.

export type Called = 'log_milestone' | 'start_task' | 'complete_task' | 'get_context'

export interface StoreOrder {
  readonly called: Called
  readonly callers: number
  readonly projects: number
  readonly milliseconds: number
}

interface Project {
  readonly context: Context
  readonly missionId: string
  /** A task that is worked on all the time. */
  readonly taskId: string
}

interface Caller extends Project {
  /** Tasks that it began and has not completed. */
  readonly begun: string[]
}

const [home = '', database = ''] = process.argv.slice(2)
let trees = 0

/** Answers as an agent's machine sends them along: each task in a work tree of its own, with three changed files. */
const measuredElsewhere: Partial<WorkTreeWitness> = {
  locate: async (folder) => ({ top: folder, mainTop: folder, engine: 'git' }),
  others: async () => [],
  snapshot: async ({ name, top }) => ({
    ref: {
      engine: 'git',
      directory: `/elsewhere/${name}`,
      top: top ?? `/elsewhere/tree-${++trees}`,
      prefix: '',
      id: 'a'.repeat(40),
    },
    dirty: [],
    notes: [],
  }),
  changes: async () => ({
    status: 'exact',
    changes: ['src/auth.ts', 'src/api.ts', 'test/auth.test.ts'].map((path) => {
      return { path, change: 'modified', origin: 'task', addedLines: 12, deletedLines: 3 }
    }),
    ignored: { added: [], modified: [], deleted: [] },
    headMoves: [],
    removedWork: [],
    notes: [],
    doubts: [],
    unreadable: [],
  }),
  matching: async (_place, areas) => areas.map((area) => ({ area, files: 2, excludes: false })),
  overlapping: async (_place, _areas, others) => others.map(() => []),
  packages: async () => [],
}

const projects: Project[] = []
const callers = new Map<string, Caller[]>()

async function call(context: Context, name: string, input: object): Promise<Record<string, unknown>> {
  const operation = catalog.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`There is no operation ${name}.`)
  return invoke(operation, context, input)
}

async function openProject(): Promise<Project> {
  const folder = join(home, `project-${projects.length}`)
  mkdirSync(folder)
  const named = database === '' ? {} : { WAYMARK_DATABASE: database }
  const { WAYMARK_DATABASE: _none, ...rest } = process.env
  const environment = {
    ...rest,
    ...named,
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    WAYMARK_PROJECT: folder,
  }
  const actor = { name: 'agent', kind: 'agent', role: null, channel: 'http' } as const
  const opened = openContext({ actor, environment, workingFolder: folder })
  const context = { ...opened, witness: { ...opened.witness, ...measuredElsewhere } }
  const mission = await call(context, 'start_mission', { name: 'Bench', objective: 'Measure' })
  const missionId = String(mission['mission_id'])
  const task = await call(context, 'start_task', { mission_id: missionId, name: 'The one that stays open' })
  return { context, missionId, taskId: String(task['task_id']) }
}

async function callersOf(count: number, over: number): Promise<readonly Caller[]> {
  while (projects.length < over) projects.push(await openProject())
  const key = String(over)
  const known = callers.get(key) ?? []
  callers.set(key, known)
  while (known.length < count) {
    const project = projects[known.length % over]
    if (!project) break
    const { context } = project
    const own = { ...context, actor: { ...context.actor, name: `agent-${known.length}` } }
    known.push({ ...project, context: own, begun: [] })
  }
  return known.slice(0, count)
}

const outcome = {
  summary: 'The login works, and its tests pass.',
  achievements: ['Login', 'Tests of the login'],
}

const calls: Readonly<Record<Called, (caller: Caller) => Promise<boolean>>> = {
  async log_milestone({ context, taskId }) {
    await call(context, 'log_milestone', { task_id: taskId, message: 'Half way there', progress: 50 })
    return true
  },
  async start_task({ context, missionId, begun }) {
    const input = {
      mission_id: missionId,
      name: 'Log in',
      goal: 'People can log in',
      areas: ['src/', 'test/'],
    }
    const started = await call(context, 'start_task', input)
    begun.push(String(started['task_id']))
    return true
  },
  async complete_task({ context, begun }) {
    const taskId = begun.pop()
    if (taskId === undefined) return false
    await call(context, 'complete_task', { task_id: taskId, status: 'success', outcome })
    return true
  },
  async get_context({ context, missionId }) {
    await call(context, 'get_context', {
      mission_id: missionId,
      include: ['decisions', 'milestones', 'blockers'],
    })
    return true
  },
}

async function events(): Promise<number> {
  const heads = await Promise.all(
    projects.map(({ context }) => context.store.view(({ eventLog: log }) => log.head())),
  )
  return heads.reduce((sum, head) => sum + head, 0)
}

/** `complete_task` goes on until everything that was begun is completed. */
async function work({ called, callers: count, projects: over, milliseconds }: StoreOrder): Promise<Interval> {
  const side = await callersOf(count, over)
  const before = await events()
  const longest = called === 'complete_task' ? 60_000 : milliseconds
  const interval = await sideBySide(count, longest, async (index) => {
    const caller = side[index]
    return caller && (await calls[called](caller)) ? 1 : null
  })
  return { ...interval, events: (await events()) - before }
}

mkdirSync(home, { recursive: true })
obey(work, () => Promise.all(projects.map(({ context }) => closeContext(context))))

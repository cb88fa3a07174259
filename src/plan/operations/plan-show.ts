import { z } from 'zod'
import { spanOf } from '../../kernel/operations/find.ts'
import { choice } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import { dependencyTree, dot, mermaid } from '../domain/diagrams.ts'
import { type OutlinePhase, type OutlineSource, outline, type TaskInPlan } from '../domain/outline.ts'
import type { PlanSpan } from '../domain/plan.ts'
import { criticalPath, marks, readyTasks, type TaskMark } from '../domain/readiness.ts'
import type { GraphTaskRow } from '../ports/plan-reads.ts'
import { spanField } from './fields.ts'

/** A task with its subtasks under the same milestone. */
const OutlineTaskEntry = z
  .object({
    id: z.string(),
    title: z.string(),
    role: z.string().nullable(),
    assignee: z.string().optional(),
    mark: z.enum(marks),
    /** To do again: its last attempt failed. */
    failed: z.literal(true).optional(),
    critical: z.boolean(),
    waits_for: strings,
    get subtasks(): z.ZodReadonly<z.ZodArray<typeof OutlineTaskEntry>> {
      return list(OutlineTaskEntry)
    },
  })
  .meta({ id: 'OutlineTask' })

const OutlinePhaseEntry = z.object({
  /** Null for tasks outside any phase. */
  id: z.string().nullable(),
  name: z.string().nullable(),
  mission_id: z.string().nullable(),
  mission_name: z.string().nullable(),
  done: z.int(),
  total: z.int(),
  milestones: list(
    z.object({
      id: z.string(),
      name: z.string().nullable(),
      reached: z.boolean(),
      tasks: list(OutlineTaskEntry),
    }),
  ),
  /** Tasks of the phase without a milestone. */
  tasks: list(OutlineTaskEntry),
})

export const planShow = defineOperation({
  name: 'plan_show',
  command: 'plan show',
  toolset: 'plan',
  audience: 'both',
  title: 'Show the plan',
  description:
    'Show the plan as an outline: phases, milestones, tasks, what is ready, and the critical path.',
  kind: 'query',
  input: z.strictObject({ mission: spanField.optional() }),
  output: z.object({
    phases: list(OutlinePhaseEntry),
    tasks: z.int(),
    done: z.int(),
    dropped: z.int(),
    ready: z.int(),
    critical_path: strings,
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const source = await planSource(reads, await spanOf(reads, input.mission), clock.now())
    const counted = source.tasks.filter(({ dropped }) => dropped !== true)
    return {
      phases: await withMissions(reads, outline(source)),
      tasks: counted.length,
      done: counted.filter(({ status }) => status === 'done').length,
      dropped: source.tasks.length - counted.length,
      ready: readyTasks(source.tasks).length,
      critical_path: criticalPath(source.tasks).map(({ id }) => id),
    }
  }),
)

/** Each phase with the name of its mission, if it has one. */
async function withMissions({ missions }: Reads, phases: readonly OutlinePhase[]) {
  const ids = [...new Set(phases.flatMap(({ mission_id }) => mission_id ?? []))]
  const found = await Promise.all(ids.map((id) => missions.find(id)))
  const names = new Map(found.flatMap((mission) => (mission ? [[mission.id as string, mission.name]] : [])))
  return phases.map((phase) => ({ ...phase, mission_name: names.get(phase.mission_id ?? '') ?? null }))
}

const drawings = { mermaid, dot, text: dependencyTree } as const

export const planGraph = defineOperation({
  name: 'plan_graph',
  command: 'plan graph',
  toolset: 'plan',
  audience: 'both',
  title: 'Draw the dependency graph',
  description:
    'Print the dependency graph of the plan as Mermaid, as DOT for Graphviz, or as a tree in text.',
  kind: 'query',
  input: z.strictObject({
    language: choice(['mermaid', 'dot', 'text'], 'Default mermaid; text at a terminal', {
      graphviz: 'dot',
    }).optional(),
    mission: spanField.optional(),
  }),
  output: z.object({ language: z.string(), text: z.string() }),
  print: (answer) => [String(answer['text'])],
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const language = input.language ?? 'mermaid'
    const source = await planSource(reads, await spanOf(reads, input.mission), clock.now())
    return { language, text: drawings[language](source) }
  }),
)

/** The maximum of tasks in one diagram. */
export const maxTasks = 200_000

/** A whole plan with only the fields for outlines and diagrams. */
export async function planSource({ plan }: Reads, owner: PlanSpan, now: number): Promise<PlanSource> {
  const phases = await plan.phases(owner)
  const milestones = await plan.milestones({ owner })
  const tasks = await plan.graph(owner, maxTasks, now)
  const orders = new Map<string, number>(phases.map(({ id }, order) => [id, order]))
  const neighbors = await plan.neighbors(owner, maxTasks, now)
  const settled = new Set(
    neighbors.filter((task) => task.status === 'done' && !task.unsettled).map(({ id }) => id),
  )
  const inside = new Set(tasks.map(({ id }) => id))
  const outside = new Set(neighbors.map(({ id }) => id))
  const crossing = [
    ...tasks.flatMap(({ id, dependsOn }) => crossings(id, dependsOn, outside)),
    ...neighbors.flatMap(({ id, dependsOn }) => crossings(id, dependsOn, inside)),
  ]
  const waiting = tasks.map((task) =>
    settled.size === 0 ? task : { ...task, dependsOn: task.dependsOn.filter((id) => !settled.has(id)) },
  )
  return {
    phases,
    milestones,
    tasks: waiting.map((task) => taskInPlan(task, orders)),
    outside: neighbors.map(({ id, name, missionId, mark }) => ({ id, title: name, missionId, mark })),
    crossing,
  }
}

export interface PlanSource extends OutlineSource {
  /** Tasks of other plans with a dependency to or from this one. */
  readonly outside: readonly {
    readonly id: string
    readonly title: string
    readonly missionId: string | null
    readonly mark: TaskMark
  }[]
  readonly crossing: readonly { readonly from: string; readonly to: string }[]
}

function crossings(to: string, dependsOn: readonly string[], others: ReadonlySet<string>) {
  return [...new Set(dependsOn)].filter((from) => others.has(from)).map((from) => ({ from, to }))
}

function taskInPlan(task: GraphTaskRow, orders: ReadonlyMap<string, number>): TaskInPlan {
  return {
    id: task.id,
    title: task.name,
    missionId: task.missionId,
    phaseId: task.phaseId,
    milestoneId: task.milestoneId,
    parentId: task.parentTaskId,
    dependsOn: task.dependsOn,
    status: task.status,
    dropped: task.dropped,
    hasFailed: task.hasFailed,
    unsettled: task.unsettled,
    claimed: task.held,
    role: task.role,
    ...(task.assignee !== null && { assignee: task.assignee }),
    phaseOrder: task.phaseId === null ? null : (orders.get(task.phaseId) ?? null),
    sortOrder: task.sortOrder,
    createdOrder: task.seq,
  }
}

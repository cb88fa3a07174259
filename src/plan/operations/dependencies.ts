import { z } from 'zod'
import { findPlanned, spanOf } from '../../kernel/operations/find.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { printEntity } from '../../kernel/operations/print.ts'
import { addDependency } from '../domain/editing.ts'
import type { NewPlanEvent } from '../domain/plan.ts'
import { marks, taskStates } from '../domain/readiness.ts'
import { briefField, briefTask, spanField } from './fields.ts'
import { listedOfTask, plannedTaskEntry, TaskOrBrief, taskAnswer } from './plan-answer.ts'
import {
  boundedSource,
  maxTasks,
  PlanPart,
  type PlanSource,
  partField,
  sourceOfTasks,
} from './plan-source.ts'

const dependencyFields = z.strictObject({
  'task-id': identifier('Task that waits'),
  'dep-id': identifier('Task to be done first'),
  brief: briefField.optional(),
})

/** The input and output of both operations. */
const ofDependency = {
  positional: ['task-id', 'dep-id'],
  synonyms: { id: 'task-id', depends_on: 'dep-id', depends_on_id: 'dep-id', dependency_id: 'dep-id' },
  input: dependencyFields,
  output: TaskOrBrief,
  listedOutput: listedOfTask,
  brief: briefTask,
  print: printEntity,
} as const

export const depAdd = defineOperation({
  name: 'taskman_task_dep_add',
  tool: 'taskman_task_dep_add',
  command: 'task dep add',
  toolset: 'plan',
  audience: 'both',
  title: 'Add a dependency',
  description: 'Make a task wait for another; cycles are refused',
  kind: 'command',
  ...ofDependency,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input['task-id'])
    const dependency = await findPlanned(reads, input['dep-id'])
    const [taskId, dependsOnId] = [planned.task.id, dependency.task.id]
    const event = addDependency(taskId, dependsOnId, {
      exists: await reads.plan.dependsOn(taskId, dependsOnId),
      returnPath: await reads.plan.chain(dependsOnId, taskId),
    })
    return { events: [event], answerFrom: taskAnswer(taskId, setting.at) }
  }),
)

export const depRemove = defineOperation({
  name: 'taskman_task_dep_remove',
  tool: 'taskman_task_dep_remove',
  command: 'task dep remove',
  toolset: 'plan',
  audience: 'both',
  title: 'Remove a dependency',
  description: 'Remove a dependency between two tasks',
  kind: 'command',
  destructive: true,
  idempotent: true,
  ...ofDependency,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input['task-id'])
    const taskId = planned.task.id
    const dependsOnId = planned.dependsOn.find((id) => id === input['dep-id'])
    // As in taskman: removing a missing dependency is no error.
    if (dependsOnId === undefined) return { events: [], answer: plannedTaskEntry(planned, setting.at) }
    const event: NewPlanEvent = { kind: 'dependency.removed', taskId, dependsOnId }
    return { events: [event], answerFrom: taskAnswer(taskId, setting.at) }
  }),
)

const DependencyGraph = z.object({
  phases: list(Named),
  nodes: list(
    z.object({
      id: z.string(),
      title: z.string(),
      phase_id: z.string().nullable(),
      mark: z.enum(marks),
      /** To do again: its last attempt failed. */
      failed: z.literal(true).optional(),
      critical: z.boolean(),
      mission_id: z.string().nullable(),
      /** A task of another plan with a dependency to or from this one. */
      outside: z.boolean(),
    }),
  ),
  edges: list(z.object({ from: z.string(), to: z.string(), critical: z.boolean() })),
})
type DependencyGraph = z.output<typeof DependencyGraph>

export const planDependencies = defineOperation({
  name: 'plan_dependencies',
  command: 'plan dependencies',
  screen: true,
  toolset: 'plan',
  audience: 'both',
  title: 'List the dependencies of the plan',
  description:
    'List the tasks and dependencies of the plan as a graph, with what is ready and the critical path. Tasks of other plans are marked outside.',
  kind: 'query',
  input: z.strictObject({ mission: spanField.optional(), phase: partField }),
  output: DependencyGraph.extend({ part: PlanPart.nullable() }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const now = clock.now()
    const span = await spanOf(reads, input.mission)
    const { source, part } = await boundedSource(reads, span, { phase: input.phase, now })
    const graph = { ...dependencyGraph(source), part }
    if (span === null || span === 'open' || part !== null) return graph
    // Agents of a mission also work on tasks of the project's plan.
    const own = new Set<string>(source.tasks.map(({ id }) => id))
    const worked = (await reads.timeline.tasks(span, maxTasks))
      .map(({ id }) => id)
      .filter((id) => !own.has(id))
    if (worked.length === 0) return graph
    const around = dependencyGraph(await sourceOfTasks(reads, null, { ids: worked, now }))
    return { ...joinGraphs(graph, around), part }
  }),
)

function dependencyGraph({ phases, tasks, outside, crossing }: PlanSource): DependencyGraph {
  const found = taskStates(tasks)
  const own = tasks.map(({ id, title, phaseId, missionId, hasFailed }, place) => ({
    id,
    title,
    phase_id: phaseId,
    mark: found[place]?.mark ?? 'blocked',
    ...(hasFailed && { failed: true as const }),
    critical: found[place]?.critical ?? false,
    mission_id: missionId,
    outside: false,
  }))
  const others = outside.map(({ id, title, missionId, mark }) => ({
    id,
    title,
    phase_id: null,
    mark,
    critical: false,
    mission_id: missionId,
    outside: true,
  }))
  const critical = new Map(own.map((node) => [node.id, node.critical]))
  const edges = tasks.flatMap(({ id, dependsOn }) =>
    [...new Set(dependsOn)]
      .filter((from) => critical.has(from))
      .map((from) => ({
        from,
        to: id,
        critical: critical.get(from) === true && critical.get(id) === true,
      })),
  )
  return {
    phases: phases.map(({ id, name }) => ({ id, name })),
    nodes: [...own, ...others],
    edges: [...edges, ...crossing.map((edge) => ({ ...edge, critical: false }))],
  }
}

/** Both graphs. A task that is outside one of them may be inside the other. */
function joinGraphs(first: DependencyGraph, second: DependencyGraph): DependencyGraph {
  const nodes = [...first.nodes, ...second.nodes].toSorted((a, b) => Number(a.outside) - Number(b.outside))
  const edges = [...first.edges, ...second.edges]
  return {
    phases: [...first.phases, ...second.phases],
    nodes: [...new Map(nodes.toReversed().map((node) => [node.id, node])).values()].toReversed(),
    edges: [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()],
  }
}

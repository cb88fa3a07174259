import { z } from 'zod'
import type { TaskId } from '../../kernel/id.ts'
import { findPhase } from '../../kernel/operations/find.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Phase } from '../../track/domain/mission.ts'
import type { OutlineSource, TaskInPlan } from '../domain/outline.ts'
import type { Milestone, PlanSpan } from '../domain/plan.ts'
import type { TaskMark } from '../domain/readiness.ts'
import type { GraphTaskRow, PlannedHome } from '../ports/plan-reads.ts'

/** A plan with more tasks is shown phase by phase. */
export const maxOutlineTasks = 500

/** The maximum of tasks in one diagram. */
export const maxTasks = 200_000

/** A whole plan with only the fields for outlines and diagrams. */
export async function planSource({ plan }: Reads, owner: PlanSpan, now: number): Promise<PlanSource> {
  return sourceOf({
    phases: await plan.phases(owner),
    milestones: await plan.milestones({ owner }),
    tasks: await plan.graph(owner, maxTasks, now),
    neighbors: await plan.neighbors(owner, maxTasks, now),
  })
}

/** Some tasks of a plan, and those that they are linked to. */
export async function sourceOfTasks(
  { plan }: Reads,
  owner: PlanSpan,
  { ids, now }: { readonly ids: readonly TaskId[]; readonly now: number },
): Promise<PlanSource> {
  const tasks = await plan.graphOf(ids.slice(0, maxOutlineTasks), now)
  const used = new Set(tasks.map(({ phaseId }) => phaseId))
  return sourceOf({
    phases: (await plan.phases(owner)).filter(({ id }) => used.has(id)),
    milestones: [],
    tasks,
    neighbors: await plan.neighborsOf(
      tasks.map(({ id }) => id),
      maxOutlineTasks,
      now,
    ),
  })
}

/** The phase of a large plan that is shown in place of all. */
export const PlanPart = z.object({
  /** "none" is the tasks outside any phase. */
  phase: z.string(),
  /** How many of its tasks are shown. */
  shown: z.int(),
  total: z.int(),
  phases: list(Named),
})

export const partField = identifier(
  'Only this phase; default for a large plan: the first unfinished',
).optional()

/** A plan; of a large one a phase, by default the first that is not done. */
export async function boundedSource(
  reads: Reads,
  span: PlanSpan,
  { phase: named, now }: { readonly phase: string | undefined; readonly now: number },
): Promise<{ readonly source: PlanSource; readonly part: z.output<typeof PlanPart> | null }> {
  const { plan } = reads
  if (named === undefined && !(await isLarge(reads, span, now)))
    return { source: await planSource(reads, span, now), part: null }
  const phases = await plan.phases(span)
  const counts = new Map((await plan.outlineCounts(span)).map((count) => [count.phaseId, count]))
  const isUnfinished = ({ id }: Phase) => (counts.get(id)?.total ?? 0) > (counts.get(id)?.done ?? 0)
  const phase =
    named === undefined ? (phases.find(isUnfinished) ?? phases[0] ?? null) : await phaseNamed(reads, named)
  const tasks = await plan.outlineTasks(homeOf(phase, span), { after: null, limit: maxOutlineTasks, now })
  const ids = tasks.map(({ id }) => id)
  const source = sourceOf({
    phases,
    milestones: phase === null ? [] : await plan.milestones({ phaseId: phase.id }),
    tasks,
    neighbors: await plan.neighborsOf(ids, maxOutlineTasks, now),
  })
  const { total = 0, dropped = 0 } = counts.get(phase?.id ?? null) ?? {}
  const part = {
    phase: phase?.id ?? 'none',
    shown: tasks.length,
    total: Math.max(total + dropped, tasks.length),
    phases: phases.map(({ id, name }) => ({ id, name })),
  }
  return { source, part }
}

export async function isLarge({ plan }: Reads, span: PlanSpan, now: number): Promise<boolean> {
  const { total } = await plan.tasks({ owner: span, now }, { limit: 0, countTo: maxOutlineTasks + 1 })
  return total > maxOutlineTasks
}

export async function phaseNamed(reads: Reads, named: string): Promise<Phase | null> {
  return named === 'none' ? null : findPhase(reads, named)
}

/** Outside any phase, a task is in the project's own plan unless a mission is named. */
export function homeOf(phase: Phase | null, span: PlanSpan): PlannedHome {
  return phase === null ? { phaseId: null, missionId: span === 'open' ? null : span } : { phaseId: phase.id }
}

function sourceOf({
  phases,
  milestones,
  tasks,
  neighbors,
}: {
  readonly phases: readonly Phase[]
  readonly milestones: readonly Milestone[]
  readonly tasks: readonly GraphTaskRow[]
  readonly neighbors: readonly (GraphTaskRow & { readonly mark: TaskMark })[]
}): PlanSource {
  const orders = new Map<string, number>(phases.map(({ id }, order) => [id, order]))
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

export function taskInPlan(task: GraphTaskRow, orders: ReadonlyMap<string, number>): TaskInPlan {
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

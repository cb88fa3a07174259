import type { OutlineSource, PlacedTask } from '../../domain/plan/outline.ts'
import type { PlanSpan } from '../../domain/plan/plan.ts'
import type { GraphTask } from '../../ports/reads/plan-reads.ts'
import type { Reads } from '../../ports/store.ts'

/** Most tasks that one picture of a plan is made of. */
const mostTasks = 200_000

/** A whole plan with as little of each task as outlines and diagrams need. */
export async function planSource({ plan }: Reads, owner: PlanSpan, now: number): Promise<OutlineSource> {
  const phases = await plan.phases(owner)
  const milestones = await plan.milestones({ owner })
  const tasks = await plan.graph(owner, mostTasks, now)
  const orders = new Map<string, number>(phases.map(({ id }, order) => [id, order]))
  return { phases, milestones, tasks: tasks.map((task) => placed(task, orders)) }
}

function placed(task: GraphTask, orders: ReadonlyMap<string, number>): PlacedTask {
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
    unsettled: task.unsettled,
    claimed: task.held,
    role: task.role,
    ...(task.assignee !== null && { assignee: task.assignee }),
    estimate: null,
    phaseOrder: task.phaseId === null ? null : (orders.get(task.phaseId) ?? null),
    sortOrder: task.sortOrder,
    createdOrder: task.seq,
  }
}

import type { Setting } from '../../domain/id.ts'
import type { NewPlanFact, PlannedTask } from '../../domain/plan/plan.ts'
import type { Reads } from '../../ports/store.ts'

/** The task as it will be after what was decided about it: for the answer, before the projections are applied. */
export function foreseen(planned: PlannedTask, facts: readonly NewPlanFact[], setting: Setting): PlannedTask {
  if (facts.length === 0) return planned
  const after = facts.reduce(applied, planned)
  return { ...after, task: { ...after.task, updatedAt: setting.at } }
}

function applied(planned: PlannedTask, fact: NewPlanFact): PlannedTask {
  const { task } = planned
  switch (fact.kind) {
    case 'task.edited':
      return { ...planned, task: { ...task, ...fact.changes } }
    case 'task.marked':
      return fact.as === 'done'
        ? ended(planned, 'claimed')
        : { ...planned, claim: null, task: { ...task, status: 'to_do', resolution: null } }
    case 'task.dropped':
      return ended(planned, 'dropped')
    case 'task.claimed':
      return { ...planned, claim: fact.claim, task: { ...task, status: 'in_progress' } }
    case 'claim.ended':
      return { ...planned, claim: null, task: { ...task, status: 'to_do' } }
    case 'dependency.added':
      return { ...planned, dependsOn: [...planned.dependsOn, fact.dependsOnId] }
    case 'dependency.removed':
      return { ...planned, dependsOn: planned.dependsOn.filter((id) => id !== fact.dependsOnId) }
    case 'phase.edited':
    case 'milestone.created':
    case 'milestone.edited':
    case 'task.forced':
    case 'note.added':
    case 'role.declared':
      return planned
  }
}

function ended(planned: PlannedTask, resolution: 'claimed' | 'dropped'): PlannedTask {
  return { ...planned, claim: null, blocked: false, task: { ...planned.task, status: 'done', resolution } }
}

/** Whether a task, as it will be, waits for one that is not done or not settled: for the answer, before it is stored. */
export async function waits(
  reads: Reads,
  { task, dependsOn }: Pick<PlannedTask, 'task' | 'dependsOn'>,
): Promise<boolean> {
  if (task.status === 'done') return false
  for (const id of dependsOn) {
    const dependency = await reads.plan.task(id)
    if (dependency !== null && (dependency.task.status !== 'done' || dependency.unsettled)) return true
  }
  return false
}

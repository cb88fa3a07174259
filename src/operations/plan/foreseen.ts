import type { Setting } from '../../domain/id.ts'
import type { PlanHappening } from '../../domain/plan/happening.ts'
import type { PlannedTask } from '../../domain/plan/plan.ts'

/** The task as it will be after what was decided about it: for the answer, before the projections are applied. */
export function foreseen(
  planned: PlannedTask,
  happenings: readonly PlanHappening[],
  setting: Setting,
): PlannedTask {
  if (happenings.length === 0) return planned
  const after = happenings.reduce(applied, planned)
  return { ...after, task: { ...after.task, updatedAt: setting.at } }
}

function applied(planned: PlannedTask, happening: PlanHappening): PlannedTask {
  const { task } = planned
  switch (happening.kind) {
    case 'task.edited':
      return { ...planned, task: { ...task, ...happening.changes } }
    case 'task.marked':
      return happening.as === 'done'
        ? ended(planned, 'claimed')
        : { ...planned, claim: null, task: { ...task, status: 'to_do', resolution: null } }
    case 'task.dropped':
      return ended(planned, 'dropped')
    case 'task.claimed':
      return { ...planned, claim: happening.claim, task: { ...task, status: 'in_progress' } }
    case 'claim.ended':
      return { ...planned, claim: null, task: { ...task, status: 'to_do' } }
    case 'dependency.added':
      return { ...planned, dependsOn: [...planned.dependsOn, happening.dependsOnId] }
    case 'dependency.removed':
      return { ...planned, dependsOn: planned.dependsOn.filter((id) => id !== happening.dependsOnId) }
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

import { Failure } from '../failure.ts'
import type { TaskId } from '../id.ts'
import { cycleText } from './cycle.ts'
import type { PlanHappening } from './happening.ts'

/** The rows that a new dependency rests on, read under the lock. */
export interface DependencySituation {
  readonly known: boolean
  /** The chain of dependencies that leads from the new dependency back to the task; null when there is none. */
  readonly wayBack: readonly TaskId[] | null
}

/** Refuses a task that would wait for itself, directly or around a circle. */
export function addDependency(
  taskId: TaskId,
  dependsOnId: TaskId,
  { known, wayBack }: DependencySituation,
): PlanHappening {
  if (taskId === dependsOnId) {
    throw new Failure('CONFLICT', `a task cannot depend on itself: ${taskId}`, {
      hint: 'Name another task as dep-id.',
    })
  }
  if (known) {
    throw new Failure('CONFLICT', `dependency already exists: ${taskId} → ${dependsOnId}`, {
      hint: 'Nothing is to do.',
    })
  }
  if (wayBack) {
    const cycle = [taskId, ...wayBack]
    throw new Failure('CONFLICT', `circular dependency: ${cycleText(cycle)}`, {
      hint: 'Remove one of these with taskman_task_dep_remove, or leave this one out.',
      details: { cycle },
    })
  }
  return { kind: 'dependency.added', taskId, dependsOnId }
}

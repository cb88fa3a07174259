import type { PhaseStatus } from '../track/mission.ts'
import { isHeld, type PlannedTask, type TaskStatus } from './plan.ts'

/** A task's status in taskman's words. A claim that expired does not keep it in progress. */
export function planStatus({ task, claim }: PlannedTask, now: number): TaskStatus {
  if (task.status !== 'in_progress' || claim === null) return task.status
  return isHeld(claim, now) ? 'in_progress' : 'to_do'
}

const phaseWords = {
  pending: 'to_do',
  in_progress: 'in_progress',
  completed: 'done',
  failed: 'done',
} as const satisfies Record<PhaseStatus, TaskStatus>

const phaseStatuses = {
  to_do: 'pending',
  in_progress: 'in_progress',
  done: 'completed',
} as const satisfies Record<TaskStatus, PhaseStatus>

/** A phase's status in taskman's words, and back. */
export function phaseWord(status: PhaseStatus): TaskStatus {
  return phaseWords[status]
}

export function phaseStatus(word: TaskStatus): PhaseStatus {
  return phaseStatuses[word]
}

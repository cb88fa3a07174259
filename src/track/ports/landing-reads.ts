import type { TaskId } from '../../kernel/id.ts'
import type { Landed, LandedState } from '../domain/landed.ts'
import type { Attempt, Task } from '../domain/task.ts'

/** Where the lines of a task were when they were last measured. */
export interface RecordedLanding extends Landed {
  /** Milliseconds since the epoch. */
  readonly measuredAt: number
}

export interface LandingReads {
  of(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, RecordedLanding>>
  /** Done tasks with measured attempts: first those that have not landed, the newest first. */
  toMeasure(most: number): Promise<readonly Task[]>
  /** The attempts of tasks and of their subtasks, by the task; oldest first. */
  attemptsOf(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly Attempt[]>>
  counts(): Promise<ReadonlyMap<LandedState, number>>
}

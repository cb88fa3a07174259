import type { MissionId, TaskId } from '../../kernel/id.ts'
import type { Landed, LandedState } from '../domain/landed.ts'
import type { Attempt, Task } from '../domain/task.ts'

/** Where the lines of a task were when they were last measured. */
export interface RecordedLanding extends Landed {
  /** Milliseconds since the epoch. */
  readonly measuredAt: number
}

/** Where the lines of a mission's done tasks were when they were last measured. */
export interface MissionLanding {
  readonly counts: ReadonlyMap<LandedState, number>
  /** The latest measurement, milliseconds since the epoch; null without one. */
  readonly measuredAt: number | null
  /** Reverted and lost ones, the latest measured first. */
  readonly gone: readonly (Pick<Task, 'id' | 'name'> & { readonly is: LandedState })[]
}

export interface LandingReads {
  of(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, RecordedLanding>>
  /** Done tasks with measured attempts: first those that have not landed, the newest first. */
  toMeasure(most: number): Promise<readonly Task[]>
  /** The done tasks that had nothing to land: they may have moved lines of others. The newest first. */
  withoutLines(most: number): Promise<readonly Task[]>
  /** When an attempt last ended; null before the first. */
  lastEnd(): Promise<number | null>
  /** The attempts of tasks and of their subtasks, by the task; oldest first. */
  attemptsOf(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly Attempt[]>>
  /** Of the tasks that are done now. */
  counts(): Promise<ReadonlyMap<LandedState, number>>
  /** Of the tasks that are done now, those with lines that are not on the default branch. */
  notLanded(): Promise<ReadonlyMap<LandedState, number>>
  ofMission(missionId: MissionId, limit: number): Promise<MissionLanding>
}

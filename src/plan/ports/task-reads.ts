import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type {
  Attempt,
  Correction,
  Dependency,
  PastAttempt,
  Task,
  TaskHistory,
} from '../../track/domain/task.ts'
import type {
  AttemptMeasurementTotals,
  AttemptReads,
  FileChangeCounts,
} from '../../track/ports/attempt-reads.ts'
import type { Claim } from '../domain/plan.ts'

/** A task with its last attempt, as lists show it. */
export interface TaskLine {
  readonly task: Task
  readonly phaseNumber: number | null
  readonly attempt: Attempt | null
  readonly counts: FileChangeCounts | null
  readonly scopeMatches: boolean | null
}

export interface TaskFilter {
  readonly missionId?: MissionId
  readonly phaseId?: PhaseId
  readonly agent?: string
  /** Started or changed at or after, milliseconds since the epoch. */
  readonly since?: number
}

/** A task as a card shows it. */
export interface TaskCard {
  readonly task: Task
  readonly missionName: string | null
  readonly claim: Claim | null
  /** The last one. */
  readonly attempt: Attempt | null
  /** How far it is, in percent, as was said last. */
  readonly progress: number | null
  readonly measured: AttemptMeasurementTotals | null
}

export interface TaskReads extends AttemptReads {
  find(id: string): Promise<Task | null>
  /** Those of these tasks that exist. */
  withIds(ids: readonly string[]): Promise<readonly Task[]>
  /** The names of tasks, at most 200. */
  named(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, string>>
  /** Those of these attempts that ended with a measurement. */
  measured(ids: readonly AttemptId[]): Promise<ReadonlyMap<AttemptId, AttemptMeasurementTotals>>
  /** Those of these tasks that exist, in the order given. */
  cards(ids: readonly string[]): Promise<readonly TaskCard[]>
  /** The attempts at a task that ended, newest first. */
  past(taskId: TaskId, limit: number): Promise<readonly PastAttempt[]>
  /** What was said of an attempt after its end, first to last, at most 100. */
  corrections(attemptId: AttemptId): Promise<readonly Correction[]>
  /** What a task depends on, at most 100. */
  dependencies(taskId: TaskId): Promise<readonly Dependency[]>
  /** Beside tasks in a list: what they wait for, who holds them, what came of them. */
  histories(ids: readonly TaskId[], now: number): Promise<ReadonlyMap<TaskId, TaskHistory>>
  /** The subtasks of a task in the order in which they were made, at most 500. */
  subtasks(taskId: TaskId): Promise<readonly TaskId[]>
  /** Subtasks with an open attempt. */
  openSubtasks(taskId: TaskId): Promise<readonly Task[]>
  /** The chain of parents of each of some tasks, nearest first; a task without a parent is not in it. */
  ancestors(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>>
  /** Newest first. */
  list(filter: TaskFilter, request: PageRequest): Promise<Page<TaskLine>>
  /** Planned tasks of a mission that nobody finished, in order of planning, at most 100. */
  planned(missionId: MissionId): Promise<readonly Task[]>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { LandedState } from '../../track/domain/landed.ts'
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
import type { VerdictReads } from '../../track/ports/verdict-reads.ts'
import type { Claim } from '../domain/plan.ts'

/** A task with its last attempt, for lists. */
export interface TaskLine {
  readonly task: Task
  readonly phaseNumber: number | null
  readonly attempt: Attempt | null
  /** Of all its attempts, once the last one has ended. */
  readonly counts: FileChangeCounts | null
  readonly scopeMatches: boolean | null
}

export interface TaskFilter {
  readonly missionId?: MissionId
  readonly phaseId?: PhaseId
  readonly agent?: string
  /** Started or changed since then, in milliseconds. */
  readonly since?: number
}

/** A task for a card. */
export interface TaskCard {
  readonly task: Task
  readonly missionName: string | null
  readonly claim: Claim | null
  /** The last one. */
  readonly attempt: Attempt | null
  /** The last logged progress, in percent. */
  readonly progress: number | null
  /** Of the last attempt, with the files and lines of all. */
  readonly measured: AttemptMeasurementTotals | null
  /** Who accepted it although it is not proven. */
  readonly acceptedBy: string | null
  /** Where its lines were when they were last measured. */
  readonly landed: LandedState | null
}

export interface TaskReads extends AttemptReads, VerdictReads {
  find(id: string): Promise<Task | null>
  /** The existing ones of these tasks. */
  withIds(ids: readonly string[]): Promise<readonly Task[]>
  /** The names of tasks, at most 200. */
  names(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, string>>
  /** The ended ones of these attempts. */
  measurementTotals(ids: readonly AttemptId[]): Promise<ReadonlyMap<AttemptId, AttemptMeasurementTotals>>
  /** The existing ones of these tasks, in the given order. */
  cards(ids: readonly string[]): Promise<readonly TaskCard[]>
  /** The ended attempts at a task, newest first. */
  past(taskId: TaskId, limit: number): Promise<readonly PastAttempt[]>
  /** The corrections of an attempt in order, at most 100. */
  corrections(attemptId: AttemptId): Promise<readonly Correction[]>
  /** The dependencies of a task, at most 100. */
  dependencies(taskId: TaskId): Promise<readonly Dependency[]>
  /** Additional list fields of tasks: dependencies, holders and results. */
  histories(ids: readonly TaskId[], now: number): Promise<ReadonlyMap<TaskId, TaskHistory>>
  /** The subtasks of a task in order of creation, at most 500. */
  subtasks(taskId: TaskId): Promise<readonly TaskId[]>
  /** Subtasks with an open attempt. */
  openSubtasks(taskId: TaskId): Promise<readonly Task[]>
  /** The ancestors of each task, nearest first; tasks without a parent are left out. */
  ancestors(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>>
  /** Newest first. */
  list(filter: TaskFilter, request: PageRequest): Promise<Page<TaskLine>>
  /** Planned tasks of a mission that are not done, in order of planning, at most 100. */
  unfinishedOf(missionId: MissionId): Promise<readonly Task[]>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

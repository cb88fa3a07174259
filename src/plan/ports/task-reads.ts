import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { ListPart, Page, PageRequest } from '../../kernel/page.ts'
import type { ReportedChange } from '../../track/domain/changes.ts'
import type {
  Attempt,
  Correction,
  Dependency,
  PastAttempt,
  SnapshotLocation,
  Task,
  TaskHistory,
} from '../../track/domain/task.ts'
import type { Claim } from '../domain/plan.ts'

/** What is known of a closed attempt besides the attempt itself. */
export interface AttemptEnd {
  readonly outcome: Outcome
  /** Without the changes: those are paged. */
  readonly evidence: Omit<AttemptMeasurement, 'changes'>
  readonly inputHash: string
  readonly answer: Readonly<Record<string, unknown>>
  readonly counts: FileChangeCounts
}

export interface FileChangeCounts {
  readonly added: number
  readonly modified: number
  readonly deleted: number
  readonly renamed: number
}

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

/** What was measured at the end of an attempt, in numbers. */
export interface AttemptMeasurementTotals {
  readonly measurement: AttemptMeasurement['measurement']
  readonly scopeMatches: boolean | null
  readonly outOfScope: number
  /** Which attempt at its task it is. */
  readonly attempt: number
  /** Null where they could not be measured. */
  readonly files: number | null
  readonly addedLines: number | null
  readonly deletedLines: number | null
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

export interface TaskReads {
  find(id: string): Promise<Task | null>
  /** The names of tasks, at most 200. */
  named(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, string>>
  attempt(id: string): Promise<Attempt | null>
  /** The attempts at a task, first to last, at most 100. */
  attempts(taskId: TaskId): Promise<readonly Attempt[]>
  openAttempt(taskId: TaskId): Promise<Attempt | null>
  lastAttempt(taskId: TaskId): Promise<Attempt | null>
  end(attemptId: AttemptId): Promise<AttemptEnd | null>
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
  /** The measured changes of an attempt, out of scope first, then by path. */
  changes(attemptId: AttemptId, part: ListPart): Promise<readonly ReportedChange[]>
  /** The attempts that were measured to have changed some paths, by their own names or those before. */
  changedBy(
    paths: readonly string[],
  ): Promise<readonly { readonly path: string; readonly attemptId: AttemptId }[]>
  /** The subtasks of a task in the order in which they were made, at most 500. */
  subtasks(taskId: TaskId): Promise<readonly TaskId[]>
  /** Subtasks with an open attempt. */
  openSubtasks(taskId: TaskId): Promise<readonly Task[]>
  /** Whether an attempt of a mission is open besides this one. */
  isOtherOpen(missionId: MissionId, besides: AttemptId): Promise<boolean>
  /** Open attempts of a mission, or of the whole project without one, at most 10,000. */
  openAttempts(missionId?: MissionId): Promise<readonly Attempt[]>
  /** Those open attempts that called last, in the order in which they were begun, and how many there are. */
  atWork(limit: number): Promise<{ readonly attempts: readonly Attempt[]; readonly total: number }>
  /** Open attempts whose last call was at or before a time and that have no open hold of kind stale_attempt, at most 50. */
  silentAttempts(lastCall: number): Promise<readonly Attempt[]>
  /** Attempts in a work tree that were open at some time since `since`, oldest first, at most 200. */
  attemptsInTree(top: string, since: number): Promise<readonly Attempt[]>
  /** The chain of parents of each of some tasks, nearest first; a task without a parent is not in it. */
  ancestors(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>>
  /** Newest first. */
  list(filter: TaskFilter, request: PageRequest): Promise<Page<TaskLine>>
  /** Planned tasks of a mission that nobody finished, in order of planning, at most 100. */
  planned(missionId: MissionId): Promise<readonly Task[]>
  /** Every snapshot that an open attempt, or one closed since `since`, still names. */
  keptSnapshots(since: number): Promise<readonly SnapshotLocation[]>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import type { AttemptId, MissionId, TaskId } from '../../kernel/id.ts'
import type { ListPart } from '../../kernel/page.ts'
import type { ReportedChange } from '../domain/changes.ts'
import type { Attempt, SnapshotLocation } from '../domain/task.ts'

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

export interface AttemptReads {
  attempt(id: string): Promise<Attempt | null>
  /** The attempts at a task, first to last, at most 100. */
  attempts(taskId: TaskId): Promise<readonly Attempt[]>
  openAttempt(taskId: TaskId): Promise<Attempt | null>
  lastAttempt(taskId: TaskId): Promise<Attempt | null>
  end(attemptId: AttemptId): Promise<AttemptEnd | null>
  /** The measured changes of an attempt, out of scope first, then by path. */
  changes(attemptId: AttemptId, part: ListPart): Promise<readonly ReportedChange[]>
  /** The attempts that were measured to have changed some paths, by their own names or those before. */
  changedBy(
    paths: readonly string[],
  ): Promise<readonly { readonly path: string; readonly attemptId: AttemptId }[]>
  /** Whether an attempt of a mission is open besides this one. */
  isOtherOpen(missionId: MissionId, besides: AttemptId): Promise<boolean>
  /** Open attempts of a mission, or of the whole project without one, at most 10,000. */
  openAttempts(missionId?: MissionId): Promise<readonly Attempt[]>
  /** Those open attempts that called last, in the order in which they were begun, and how many there are. */
  atWork(limit: number): Promise<{ readonly attempts: readonly Attempt[]; readonly total: number }>
  /** Open attempts that are stale at a time and have no open inbox item of kind stale_attempt, at most 50. */
  silentAttempts(now: number): Promise<readonly Attempt[]>
  /** Attempts in a work tree that were open at some time since `since`, oldest first, at most 200. */
  attemptsInTree(top: string, since: number): Promise<readonly Attempt[]>
  /** Every snapshot that an open attempt, or one closed since `since`, still names. */
  keptSnapshots(since: number): Promise<readonly SnapshotLocation[]>
}

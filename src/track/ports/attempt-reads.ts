import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import type { AttemptId, MissionId, TaskId } from '../../kernel/id.ts'
import type { ListPart } from '../../kernel/page.ts'
import type { ReportedChange } from '../domain/changes.ts'
import type { ClaimedWork } from '../domain/claimed-paths.ts'
import type { Attempt, SnapshotLocation } from '../domain/task.ts'
import type { VerdictValue } from '../domain/verdict.ts'

/** The outcome and measurement of a closed attempt. */
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

/** Counts measured at the end of an attempt. */
export interface AttemptMeasurementTotals {
  readonly measurement: AttemptMeasurement['measurement']
  /** Null for a failed attempt. */
  readonly verdict: VerdictValue | null
  readonly scopeMatches: boolean | null
  readonly outOfScope: number
  /** Of these, the files that a person approved. */
  readonly outOfScopeAccepted: number
  /** The number of the attempt at its task. */
  readonly attempt: number
  /** Null if they could not be measured. */
  readonly files: number | null
  readonly addedLines: number | null
  readonly deletedLines: number | null
}

/** What an agent says about the files of its ended attempt. */
export interface AttemptStatement {
  readonly claimed: ClaimedWork
  /** Paths that are not its own. */
  readonly denied: readonly string[]
  /** Changed paths of which the words leave open whose they are. */
  readonly uncertain: readonly string[]
}

/** An ended attempt with a changed file that may be another's. */
export interface UncertainHolder {
  readonly attempt: Attempt
  readonly change: ReportedChange
}

export interface RecentAttempt {
  readonly attempt: Attempt
  readonly taskName: string
  /** How many files it changed; null if that was not measured. */
  readonly files: number | null
}

export interface AttemptReads {
  attempt(id: string): Promise<Attempt | null>
  /** The attempts at a task, first to last, at most 100. */
  attempts(taskId: TaskId): Promise<readonly Attempt[]>
  openAttempt(taskId: TaskId): Promise<Attempt | null>
  lastAttempt(taskId: TaskId): Promise<Attempt | null>
  /** The last attempts at tasks, by the task. */
  lastAttempts(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, Attempt>>
  end(attemptId: AttemptId): Promise<AttemptEnd | null>
  /** The measured changes of an attempt, out of scope first, then by path. */
  changes(attemptId: AttemptId, part: ListPart): Promise<readonly ReportedChange[]>
  /** The attempts that changed some paths, by current or former names. */
  changedBy(
    paths: readonly string[],
  ): Promise<readonly { readonly path: string; readonly attemptId: AttemptId }[]>
  /** By the ids of attempts; those that have not ended are left out. */
  statements(attemptIds: readonly string[]): Promise<ReadonlyMap<string, AttemptStatement>>
  /** The ended attempts that list one of these paths without being certain of it. */
  uncertainHolders(paths: readonly string[]): Promise<readonly UncertainHolder[]>
  /** Whether another attempt of a mission is open. */
  isOtherOpen(missionId: MissionId, besides: AttemptId): Promise<boolean>
  /** Open attempts of a mission, or of the whole project without one, at most 10,000. */
  openAttempts(missionId?: MissionId): Promise<readonly Attempt[]>
  /** The open attempts with the latest calls, in order of their start, and the total. */
  atWork(limit: number): Promise<{ readonly attempts: readonly Attempt[]; readonly total: number }>
  /**
   * Open attempts that are stale at a time, or whose caller lost its access, and that have no open inbox item of kind
   * stale_attempt, at most 50.
   */
  silentAttempts(now: number): Promise<readonly Attempt[]>
  /** The last 200 attempts in a work tree that were open and not stale at some time since `since`, oldest first. */
  attemptsInTree(top: string, since: number): Promise<readonly Attempt[]>
  /** The open attempts in a work tree, stale or not, those with the latest calls first, at most 200. */
  openInTree(top: string): Promise<readonly Attempt[]>
  /** Open attempts, and those that ended since a time, the newest first, at most 500. */
  recentAttempts(since: number): Promise<readonly RecentAttempt[]>
  /** Every snapshot of an open attempt, or of one closed since `since`. */
  keptSnapshots(since: number): Promise<readonly SnapshotLocation[]>
}

import type { Evidence, Outcome } from '../../domain/fact.ts'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../domain/id.ts'
import type { ReportedChange } from '../../domain/track/evidence.ts'
import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'
import type { Correction, Dependency, PastAttempt, TaskHistory } from '../../domain/track/task-history.ts'
import type { Page, PageRequest } from './page.ts'

/** What is known of a closed attempt besides the attempt itself. */
export interface AttemptEnd {
  readonly outcome: Outcome
  /** Without the changes: those are paged. */
  readonly evidence: Omit<Evidence, 'changes'>
  readonly inputHash: string
  readonly answer: Readonly<Record<string, unknown>>
  readonly counts: ChangeCounts
}

export interface ChangeCounts {
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
  readonly counts: ChangeCounts | null
  readonly scopeMatches: boolean | null
}

export interface TaskFilter {
  readonly missionId?: MissionId
  readonly phaseId?: PhaseId
  readonly agent?: string
  /** Started or changed at or after, milliseconds since the epoch. */
  readonly since?: number
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
  /** The attempts at a task that ended, newest first. */
  past(taskId: TaskId, limit: number): Promise<readonly PastAttempt[]>
  /** What was said of an attempt after its end, first to last, at most 100. */
  corrections(attemptId: AttemptId): Promise<readonly Correction[]>
  /** What a task depends on, at most 100. */
  dependencies(taskId: TaskId): Promise<readonly Dependency[]>
  /** Beside tasks in a list: what they wait for, who holds them, what came of them. */
  histories(ids: readonly TaskId[], now: number): Promise<ReadonlyMap<TaskId, TaskHistory>>
  /** The verified changes of an attempt, out of scope first, then by path. */
  changes(
    attemptId: AttemptId,
    request: { readonly limit: number; readonly offset: number },
  ): Promise<readonly ReportedChange[]>
  /** Subtasks with an open attempt. */
  openSubtasks(taskId: TaskId): Promise<readonly Task[]>
  /** Open attempts of a mission, or of the whole project without one, at most 10,000. */
  openAttempts(missionId?: MissionId): Promise<readonly Attempt[]>
  /** Open attempts whose last call was at or before a time and that have no open hold of kind stale_attempt, at most 50. */
  silentAttempts(lastCall: number): Promise<readonly Attempt[]>
  /** Attempts in a work tree that were open at some time since `since`, oldest first, at most 200. */
  attemptsInTree(top: string, since: number): Promise<readonly Attempt[]>
  /** The chain of parents of a task, nearest first. */
  ancestors(taskId: TaskId): Promise<readonly TaskId[]>
  /** Newest first. */
  list(filter: TaskFilter, request: PageRequest): Promise<Page<TaskLine>>
  /** Planned tasks of a mission that nobody finished, in order of planning, at most 100. */
  planned(missionId: MissionId): Promise<readonly Task[]>
  /** Every snapshot that an open attempt, or one closed since `since`, still names. */
  keptSnapshots(since: number): Promise<readonly SnapshotPlace[]>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

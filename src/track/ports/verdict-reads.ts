import type { AttemptId, TaskId } from '../../kernel/id.ts'
import type { Attempt } from '../domain/task.ts'
import type { RelatedAttempt } from '../domain/task-work.ts'
import type { Verdict } from '../domain/verdict.ts'

/** A verdict as it was recorded. */
export interface VerdictRecord {
  /** Null for a failed attempt. */
  readonly verdict: Verdict | null
  readonly cause: 'completion' | 'amendment' | 'check' | 'release'
  /** The summary that was judged. */
  readonly summary: string
  readonly author: string
  readonly createdAt: number
}

export interface VerdictReads {
  /** The verdicts of an attempt, oldest first; the last one counts. */
  verdicts(attemptId: AttemptId): Promise<readonly VerdictRecord[]>
  /** The last verdicts of those attempts that have one. */
  lastVerdicts(attemptIds: readonly AttemptId[]): Promise<ReadonlyMap<AttemptId, Verdict>>
  /** Who accepted the last completions of tasks, by an answer about the verdict or by approving a review. */
  acceptances(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, string>>
  /** The attempts that completed a task with this content, newest first, at most 20. */
  attemptsWithContent(content: string): Promise<readonly Attempt[]>
  /** The other attempts at the task of an attempt, and those at its subtasks. */
  relatedAttempts(attempt: Pick<Attempt, 'id' | 'taskId'>): Promise<readonly RelatedAttempt[]>
}

import type { FileState, StoredContent } from '../../git/ports/work-tree.ts'
import type { MissionId, ReviewId, TaskId } from '../../kernel/id.ts'
import type { Attempt } from '../../track/domain/task.ts'
import type { DraftComment, ReviewAction, ReviewComment, Reviewer } from '../domain/review.ts'

/** A review as it was sent, without its comments. */
export interface ReviewSummary {
  readonly id: ReviewId
  readonly action: ReviewAction
  /** The reviewed task; null where a mission or what is new was reviewed. */
  readonly taskId: TaskId | null
  readonly text: string | null
  readonly content: string
  readonly author: Reviewer
  readonly comments: number
  readonly createdAt: number
}

/** A review with its tasks: if it sends work back, those that must be redone. */
export interface ReviewWithTasks extends ReviewSummary {
  readonly tasks: readonly TaskId[]
}

/** The last content of a file that a person viewed in a review. */
export interface ViewedFile {
  readonly subject: string
  /** The work tree and the path, as JSON. */
  readonly place: string
  /** Empty for a deleted file. */
  readonly content: string
  readonly viewedAt: number
}

/** The states of a file before and after an attempt; null for no file. */
export interface FileStates {
  readonly path: string
  /** Its path at the start, if different. */
  readonly from?: string
  readonly before: FileState | null
  readonly after: FileState | null
}

export interface ReviewReads {
  /** Comments for the agents of tasks, oldest first; the last 500. */
  commentsOn(taskIds: readonly TaskId[]): Promise<readonly ReviewComment[]>
  /** All comments in a mission, oldest first; the last 500. */
  commentsInMission(missionId: MissionId): Promise<readonly ReviewComment[]>
  /** Unfinished tasks with unanswered comments, or that were sent back or done before: the last, at most 20. */
  waitingTasks(): Promise<readonly TaskId[]>
  comment(id: string): Promise<ReviewComment | null>
  /** The comments of a review, in their order; the first 500. */
  commentsOfReview(id: string): Promise<readonly ReviewComment[]>
  /** Reviews of subjects, oldest first; the last 50. */
  sentAbout(subjects: readonly string[]): Promise<readonly ReviewSummary[]>
  /** The last reviews of a task, alone or with others, oldest first; `decisions` are without comments. */
  reviewsOfTask(
    taskId: TaskId,
    most: number,
    which?: 'all' | 'decisions',
  ): Promise<readonly ReviewWithTasks[]>
  /** The last decisions about some tasks, oldest first. */
  decisionsOn(taskIds: readonly TaskId[], most: number): Promise<readonly ReviewWithTasks[]>
  /** The last reviews of work in a mission, oldest first. */
  reviewsInMission(
    missionId: MissionId,
    most: number,
    which?: 'all' | 'decisions',
  ): Promise<readonly ReviewWithTasks[]>
  /** A person's unsent comments, oldest first. */
  drafts(ownerId: string, subject: string): Promise<readonly DraftComment[]>
  draft(
    ownerId: string,
    id: string,
  ): Promise<{ readonly draft: DraftComment; readonly subject: string } | null>
  viewedAt(ownerId: string, places: readonly string[]): Promise<readonly ViewedFile[]>
  /** The time until which a person has reviewed everything, milliseconds since the epoch; null if never. */
  inspectedAt(ownerId: string): Promise<number | null>
  /**
   * Measured attempts that ended after a time, oldest first: the first 500. Without a time the last 500 of all. None of a
   * task or mission that the person approved or sent back after their end.
   */
  endedSince(
    after: number | null,
    ownerId: string,
  ): Promise<{ readonly attempts: readonly Attempt[]; readonly isCut: boolean }>
  /** The files of attempts on other machines, as sent by these; by the attempt's id. */
  filesOf(attemptIds: readonly string[]): Promise<ReadonlyMap<string, readonly FileStates[]>>
  /** Contents from other machines, by their ids. */
  contents(ids: readonly string[], most: number): Promise<ReadonlyMap<string, StoredContent>>
  /** The contents whose last attempt ended before a time. */
  contentsBefore(before: number): Promise<{ readonly count: number; readonly bytes: number }>
}

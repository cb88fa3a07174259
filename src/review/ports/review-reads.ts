import type { FileState, StoredContent } from '../../git/ports/work-tree.ts'
import type { MissionId, ReviewId, TaskId } from '../../kernel/id.ts'
import type { Attempt } from '../../track/domain/task.ts'
import type { DraftComment, ReviewAction, ReviewComment, Reviewer } from '../domain/review.ts'

/** A review as it was sent, without its comments. */
export interface ReviewSummary {
  readonly id: ReviewId
  readonly action: ReviewAction
  readonly text: string | null
  readonly content: string
  readonly author: Reviewer
  readonly comments: number
  readonly createdAt: number
}

/** A review with the tasks that it means: those that are to do again, where it sends back. */
export interface ReviewWithTasks extends ReviewSummary {
  readonly tasks: readonly TaskId[]
}

/** What a person looked at last, of a file, in a subject. */
export interface ViewedFile {
  readonly subject: string
  /** The work tree and the path, as JSON. */
  readonly place: string
  /** Empty for a file that is gone. */
  readonly content: string
  readonly viewedAt: number
}

/** The state of a file at both ends of an attempt; null for no file. */
export interface FileStates {
  readonly path: string
  /** Its path at the start, where that is another. */
  readonly from?: string
  readonly before: FileState | null
  readonly after: FileState | null
}

export interface ReviewReads {
  /** Comments for the agents of tasks, oldest first; the last 500. */
  commentsOn(taskIds: readonly TaskId[]): Promise<readonly ReviewComment[]>
  /** All comments in a mission, oldest first; the last 500. */
  commentsInMission(missionId: MissionId): Promise<readonly ReviewComment[]>
  /** Tasks that are to do or at work, with comments that nobody answered or sent back in words: the last, at most 20. */
  waitingTasks(): Promise<readonly TaskId[]>
  comment(id: string): Promise<ReviewComment | null>
  /** What was said of subjects, oldest first; the last 50. */
  sentAbout(subjects: readonly string[]): Promise<readonly ReviewSummary[]>
  /** What was said last of a task, alone or with others, oldest first. */
  reviewsOfTask(taskId: TaskId, most: number): Promise<readonly ReviewWithTasks[]>
  /** What was said last of work in a mission, oldest first. */
  reviewsInMission(missionId: MissionId, most: number): Promise<readonly ReviewWithTasks[]>
  /** What a person wrote and has not sent, oldest first. */
  drafts(ownerId: string, subject: string): Promise<readonly DraftComment[]>
  draft(
    ownerId: string,
    id: string,
  ): Promise<{ readonly draft: DraftComment; readonly subject: string } | null>
  viewed(ownerId: string, places: readonly string[]): Promise<readonly ViewedFile[]>
  /** Until when a person has looked at everything, milliseconds since the epoch; null where never. */
  inspectedAt(ownerId: string): Promise<number | null>
  /** Measured attempts that ended after a time, oldest first: the first 500. Without a time the last 500 of all. */
  endedSince(
    after: number | null,
  ): Promise<{ readonly attempts: readonly Attempt[]; readonly isCut: boolean }>
  /** The files of attempts on other machines, as those sent them; by the attempt's id. */
  filesOf(attemptIds: readonly string[]): Promise<ReadonlyMap<string, readonly FileStates[]>>
  /** Contents from other machines, by their ids. */
  contents(ids: readonly string[], most: number): Promise<ReadonlyMap<string, StoredContent>>
  /** Those of them whose last attempt ended before. */
  contentsBefore(before: number): Promise<{ readonly count: number; readonly bytes: number }>
}

import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { Failure } from '../../kernel/failure.ts'
import type {
  AttemptId,
  MissionId,
  ReviewCommentId,
  ReviewId,
  ReviewReplyId,
  TaskId,
  TransactionContext,
} from '../../kernel/id.ts'
import { isCompleted } from '../../track/domain/task.ts'

export const reviewActions = ['send_back', 'approve', 'comment'] as const
export type ReviewAction = (typeof reviewActions)[number]

export const commentKinds = ['question', 'request'] as const
export type CommentKind = (typeof commentKinds)[number]

export const sides = ['old', 'new'] as const
export type DiffSide = (typeof sides)[number]

/** What became of a comment's line; `unknown`: its content is not kept. */
export const lineStates = ['same', 'moved', 'gone', 'unknown'] as const

/** The reviewed work: on a task, in a mission, or all that ended since the reader's last full review. */
export type ReviewSubject =
  | { readonly kind: 'task'; readonly taskId: TaskId; readonly missionId: MissionId | null }
  | { readonly kind: 'mission'; readonly missionId: MissionId }
  | { readonly kind: 'since' }

/** The stored key of a subject: `t-…`, `m-…`, `since`. */
export function subjectKey(subject: ReviewSubject): string {
  if (subject.kind === 'task') return subject.taskId
  return subject.kind === 'mission' ? subject.missionId : 'since'
}

/** The author of a review: a person of the server by their id, else the user of a machine. */
export interface Reviewer {
  readonly id: string
  readonly name: string
}

/** The anchor of a comment: a line, a file, or the whole. */
export interface CommentAnchor {
  /** From the work tree's top; null for the whole. */
  readonly path: string | null
  /** The work tree if the review has several, else null. */
  readonly tree: string | null
  readonly side: DiffSide
  /** From 1; null for the file. */
  readonly line: number | null
  /** The id of the content with the line; null if there is none. */
  readonly content: string | null
  /** The text of the line, cut if it is long. */
  readonly quoted: string | null
}

export interface CommentBody {
  readonly kind: CommentKind
  readonly text: string
}

/** An unsent comment, which only its author sees. */
export interface DraftComment extends CommentAnchor, CommentBody {
  readonly id: ReviewCommentId
  /** The task that it is for: the last that changed the file. Null for a comment on several tasks. */
  readonly taskId: TaskId | null
  readonly missionId: MissionId | null
  readonly createdAt: number
}

/** A sent comment. */
export interface ReviewComment extends DraftComment {
  readonly reviewId: ReviewId
  readonly author: Reviewer
  /** Replies by agents and people, in order. */
  readonly replies: readonly ReviewReply[]
}

export interface ReviewReply {
  readonly id: ReviewReplyId
  readonly commentId: ReviewCommentId
  readonly taskId: TaskId | null
  readonly missionId: MissionId | null
  readonly attemptId: AttemptId | null
  readonly text: string
  /** Whether it marks the comment as done. */
  readonly done: boolean
  readonly author: string
  readonly isPerson: boolean
  readonly agentName: string | null
  readonly createdAt: number
}

/** A review that a person sent, with all its comments. */
export interface Review {
  readonly id: ReviewId
  readonly subject: ReviewSubject
  readonly action: ReviewAction
  readonly text: string | null
  /** The hash of the reviewed files. */
  readonly content: string
  readonly author: Reviewer
  /** The tasks that it concerns, at most 200. */
  readonly tasks: readonly TaskId[]
  /** Of a mission: the tasks that were not proven, and whose changes were all in what was approved. */
  readonly accepted?: readonly TaskId[]
  readonly comments: readonly DraftComment[]
  readonly createdAt: number
}

export type ReviewEvent =
  | { readonly kind: 'review.sent'; readonly review: Review }
  | { readonly kind: 'review.replied'; readonly reply: ReviewReply }

export const maxDrafts = 200
export const maxCommentLength = 8000
export const maxQuoteLength = 300

export const commentStates = ['open', 'answered', 'done'] as const
export type CommentStatus = (typeof commentStates)[number]

/** The status of a comment. `done`: a reply marks it as done, and no person answered that. */
export function commentStatus({
  replies,
}: {
  readonly replies: readonly Pick<ReviewReply, 'done' | 'isPerson'>[]
}): CommentStatus {
  const doneAt = replies.findLastIndex(({ done }) => done)
  if (doneAt === -1) return replies.length > 0 ? 'answered' : 'open'
  return replies.slice(doneAt + 1).some(({ isPerson }) => isPerson) ? 'open' : 'done'
}

interface ReviewSubmission {
  readonly subject: ReviewSubject
  readonly action: ReviewAction
  readonly text: string | null
  readonly content: string
  readonly author: Reviewer
  readonly drafts: readonly DraftComment[]
  readonly tasks: readonly TaskId[]
  readonly accepted: readonly TaskId[]
}

/** Fails if a review has no text and no comments, and is not an approval. */
export function assertReviewSays({
  action,
  text,
  drafts,
}: Pick<ReviewSubmission, 'action' | 'text'> & { readonly drafts: readonly unknown[] }): void {
  const isSilent = text === null && drafts.length === 0
  if (action !== 'approve' && isSilent) {
    throw new Failure(
      'INVALID_INPUT',
      action === 'comment'
        ? 'There is nothing to send: no comment and no text.'
        : 'Cannot send work back without a comment or text: the agent must know what to do.',
      { reason: 'review_empty', hint: 'Write a comment first, or pass a text.' },
    )
  }
}

/** Makes a review of all drafts of a person. */
export function sendReview(submission: ReviewSubmission, setting: TransactionContext): Review {
  const { action, text, drafts } = submission
  assertReviewSays(submission)
  return {
    id: setting.ids.next('review'),
    subject: submission.subject,
    action,
    text,
    content: submission.content,
    author: submission.author,
    // Tasks with comments first, as the list is cut.
    tasks: [...new Set([...drafts.flatMap(({ taskId }) => taskId ?? []), ...submission.tasks])].slice(0, 200),
    ...(submission.accepted.length > 0 && { accepted: submission.accepted }),
    comments: drafts,
    createdAt: setting.at,
  }
}

/** The tasks that must be redone: those with comments, or all if only the whole has a text or comments. */
export function tasksSentBack({
  comments,
  text,
  tasks,
}: Pick<Review, 'text' | 'tasks'> & {
  readonly comments: readonly Pick<DraftComment, 'taskId'>[]
}): readonly TaskId[] {
  const named = new Set(comments.map(({ taskId }) => taskId).filter((id) => id !== null))
  const isForAll = text !== null || comments.some(({ taskId }) => taskId === null)
  return isForAll && named.size === 0 ? tasks : tasks.filter((id) => named.has(id))
}

/** The words for review actions. */
export const actionWords = {
  send_back: 'sent back',
  approve: 'approved',
  comment: 'commented',
} as const satisfies Record<ReviewAction, string>

/** The tasks that a review concerns: if it sends work back, those that must be redone. */
export function tasksToSendBack(
  review: Parameters<typeof tasksSentBack>[0] & Pick<Review, 'action'>,
): readonly TaskId[] {
  return review.action === 'send_back' ? tasksSentBack(review) : review.tasks
}

/** Reopens a done task. One in progress continues, and its agent reads the comments. */
export function reopenTask(task: {
  readonly id: TaskId
  readonly status: string
  readonly resolution: string | null
}): readonly NewProjectEvent[] {
  return isCompleted(task) ? [{ kind: 'task.marked', taskId: task.id, status: 'to_do' }] : []
}

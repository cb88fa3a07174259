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

export const reviewActions = ['send_back', 'approve', 'comment'] as const
export type ReviewAction = (typeof reviewActions)[number]

export const commentKinds = ['question', 'request'] as const
export type CommentKind = (typeof commentKinds)[number]

export const sides = ['old', 'new'] as const
export type DiffSide = (typeof sides)[number]

/** How the line of a comment is now; `unknown`: what it was is not kept. */
export const lineStates = ['same', 'moved', 'gone', 'unknown'] as const

/** What is looked at: the work on a task, in a mission, or all that ended since its reader last looked. */
export type ReviewSubject =
  | { readonly kind: 'task'; readonly taskId: TaskId; readonly missionId: MissionId | null }
  | { readonly kind: 'mission'; readonly missionId: MissionId }
  | { readonly kind: 'since' }

/** How a subject is named where it is kept: `t-…`, `m-…`, `since`. */
export function subjectKey(subject: ReviewSubject): string {
  if (subject.kind === 'task') return subject.taskId
  return subject.kind === 'mission' ? subject.missionId : 'since'
}

/** Who reviews: a person of the server by their id, else the user of a machine. */
export interface Reviewer {
  readonly id: string
  readonly name: string
}

/** What a comment is about: a line, a file, or the whole. */
export interface CommentAnchor {
  /** From the work tree's top; null for the whole. */
  readonly path: string | null
  /** The work tree, where the review has several; null where it has one. */
  readonly tree: string | null
  readonly side: DiffSide
  /** From 1; null for the file. */
  readonly line: number | null
  /** The id of the content that the line is of; null where there is none. */
  readonly content: string | null
  /** The line as it was, cut where it is long. */
  readonly quoted: string | null
}

export interface CommentBody {
  readonly kind: CommentKind
  readonly text: string
}

/** A comment that only who wrote it sees. */
export interface DraftComment extends CommentAnchor, CommentBody {
  readonly id: ReviewCommentId
  /** The task whose agent it is for: the last that changed the file. Null for the whole of more than one task. */
  readonly taskId: TaskId | null
  readonly missionId: MissionId | null
  readonly createdAt: number
}

/** A comment as it was sent. */
export interface ReviewComment extends DraftComment {
  readonly reviewId: ReviewId
  readonly author: Reviewer
  /** Agents and people who answered it, in order. */
  readonly replies: readonly ReviewReply[]
}

export interface ReviewReply {
  readonly id: ReviewReplyId
  readonly commentId: ReviewCommentId
  readonly taskId: TaskId | null
  readonly missionId: MissionId | null
  readonly attemptId: AttemptId | null
  readonly text: string
  /** It says that the comment is dealt with. */
  readonly done: boolean
  readonly author: string
  readonly isPerson: boolean
  readonly agentName: string | null
  readonly createdAt: number
}

/** What a person said of what was shown, all at once. */
export interface Review {
  readonly id: ReviewId
  readonly subject: ReviewSubject
  readonly action: ReviewAction
  readonly text: string | null
  /** The hash of the files that were shown. */
  readonly content: string
  readonly author: Reviewer
  /** The tasks that it is about, at most 200. */
  readonly tasks: readonly TaskId[]
  readonly comments: readonly DraftComment[]
  readonly createdAt: number
}

export type ReviewEvent =
  | { readonly kind: 'review.sent'; readonly review: Review }
  | { readonly kind: 'review.replied'; readonly reply: ReviewReply }

export const maxDrafts = 200
export const maxCommentLength = 8000
export const maxQuoteLength = 300

/** How a comment stands. `settled`: its author has said so by approving, or someone said that it is done. */
export type CommentStatus = 'open' | 'answered' | 'done'

export function commentStatus({ replies }: Pick<ReviewComment, 'replies'>): CommentStatus {
  if (replies.some(({ done }) => done)) return 'done'
  return replies.length > 0 ? 'answered' : 'open'
}

interface ReviewSubmission {
  readonly subject: ReviewSubject
  readonly action: ReviewAction
  readonly text: string | null
  readonly content: string
  readonly author: Reviewer
  readonly drafts: readonly DraftComment[]
  readonly tasks: readonly TaskId[]
}

/** Fails where a review says nothing and is no approval. */
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

/** Sends all that a person wrote. */
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
    // Those with comments first: they are told what to do.
    tasks: [...new Set([...drafts.flatMap(({ taskId }) => taskId ?? []), ...submission.tasks])].slice(0, 200),
    comments: drafts,
    createdAt: setting.at,
  }
}

/** The tasks that are to do again: those with comments, or all where the words are for the whole. */
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

/** How a verdict is said. */
export const actionWords = {
  send_back: 'sent back',
  approve: 'approved',
  comment: 'commented',
} as const satisfies Record<ReviewAction, string>

/** The tasks that a verdict is about: of work that is sent back, those that are to do again. */
export function tasksToSendBack(
  review: Parameters<typeof tasksSentBack>[0] & Pick<Review, 'action'>,
): readonly TaskId[] {
  return review.action === 'send_back' ? tasksSentBack(review) : review.tasks
}

/** A done task is to do again; one that is at work goes on, and its agent reads what was said. */
export function reopenTask(task: {
  readonly id: TaskId
  readonly status: string
  readonly resolution: string | null
}): readonly NewProjectEvent[] {
  return task.status === 'done' && task.resolution !== 'dropped'
    ? [{ kind: 'task.marked', taskId: task.id, as: 'to_do' }]
    : []
}

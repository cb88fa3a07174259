import { z } from 'zod'
import { sentBackRun } from '../../gate/operations/run/sent-back-runs.ts'
import type { MissionId, TaskId } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import type { BriefOf, MeasurementOf } from '../../kernel/operations/measurement-protocol.ts'
import { excerpt, plainLine } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { actionWords, commentKinds, commentStatus, type ReviewComment } from '../domain/review.ts'
import type { ReviewWithTasks } from '../ports/review-reads.ts'
import type { commentLines } from './measure-files.ts'
import { maxReviews, type SentBack, sentBackOf } from './sent-back.ts'

/** A comment as the agent of the work reads it. */
const AgentComment = z.object({
  comment_id: z.string(),
  kind: z.enum(commentKinds),
  author: z.string(),
  task_id: z.string().nullable().optional(),
  path: z.string().optional(),
  /** The line when the comment was written; `quoted` is its text then. */
  line: z.int().optional(),
  side: z.literal('old').optional(),
  quoted: z.string().optional(),
  text: z.string(),
  status: z.enum(['open', 'answered']),
  answers: strings.optional(),
})

/** A review in plain words: work that was sent back must be redone. */
const AgentReview = z.object({
  review_id: z.string(),
  action: z.enum(['sent back', 'approved', 'commented']),
  author: z.string(),
  created_at: z.string(),
  text: z.string().optional(),
  comments: z.int().optional(),
  /** The tasks that it concerns, for a mission. */
  task_ids: strings.optional(),
})

/** Reviews of the work, oldest first, and comments that are not done; absent if there are none. */
export const reviewFields = {
  reviews: list(AgentReview).optional(),
  review_comments: list(AgentComment).optional(),
  review_comments_total: z.int().optional(),
}

/** The same of one task. */
export const taskReviewFields = {
  ...reviewFields,
  /** A person sent the task back, in a review or in the inbox, and nobody approved it since; or a run about it. */
  sent_back: z.object({ author: z.string(), created_at: z.string(), text: z.string().optional() }).optional(),
}

const maxComments = 20
const maxCharacters = 6000

/** For the agent at a task: answer each with reply_to_review. */
export async function reviewOfTask(reads: Reads, taskId: TaskId) {
  const [reviews, comments, ofTask] = await Promise.all([
    reads.reviews.reviewsOfTask(taskId, maxReviews),
    reads.reviews.commentsOn([taskId]),
    sentBackOf(reads, taskId),
  ])
  const sentBack = ofTask ?? (await runSentBack(reads, taskId))
  return {
    ...(sentBack && { sent_back: sentBackEntry(sentBack) }),
    ...reviewsField(reviews, false),
    ...openCommentsFields(comments, false),
  }
}

/** Who sent a run about a task or its mission back, until a task is done again. */
async function runSentBack(reads: Reads, taskId: TaskId): Promise<SentBack | null> {
  const missionId = (await reads.tasks.find(taskId))?.missionId
  const ofTask = await sentBackRun(reads, { taskId })
  const back = ofTask ?? (missionId ? await sentBackRun(reads, { missionId }) : null)
  return back && { author: back.author, text: back.reason, at: back.at }
}

/** The same for a mission, optionally only reviews since a time. */
export async function reviewInMission(reads: Reads, missionId: MissionId, since = 0) {
  const [reviews, comments] = await Promise.all([
    reads.reviews.reviewsInMission(missionId, maxReviewsOfMission),
    reads.reviews.commentsInMission(missionId),
  ])
  const recent = reviews.filter(({ createdAt }) => createdAt >= since)
  return { ...reviewsField(recent, true), ...openCommentsFields(comments, true) }
}

function sentBackEntry({ author, text, at }: SentBack) {
  return {
    author: plainLine(author, 80),
    created_at: instant(at),
    ...(text !== null && { text: excerpt(text, 1200) }),
  }
}

const maxReviewsOfMission = 5
const maxTasks = 10

function reviewsField(reviews: readonly ReviewWithTasks[], withTasks: boolean) {
  if (reviews.length === 0) return {}
  return { reviews: reviews.map((review) => agentReview(review, withTasks)) }
}

function agentReview(
  { id, action, author, createdAt, text, comments, tasks }: ReviewWithTasks,
  withTasks: boolean,
): z.output<typeof AgentReview> {
  return {
    review_id: id,
    action: actionWords[action],
    author: plainLine(author.name, 80),
    created_at: instant(createdAt),
    ...(text !== null && { text: excerpt(text, 1200) }),
    ...(comments > 0 && { comments }),
    ...(withTasks && { task_ids: tasks.slice(0, maxTasks) }),
  }
}

function openCommentsFields(comments: readonly ReviewComment[], withTask: boolean) {
  const open = comments.filter((comment) => commentStatus(comment) !== 'done')
  if (open.length === 0) return {}
  const entries: z.output<typeof AgentComment>[] = []
  let used = 0
  for (const comment of open.slice(0, maxComments)) {
    const entry = agentComment(comment, withTask)
    used += JSON.stringify(entry).length
    if (entries.length > 0 && used > maxCharacters) break
    entries.push(entry)
  }
  return { review_comments: entries, review_comments_total: open.length }
}

function agentComment(comment: ReviewComment, withTask: boolean): z.output<typeof AgentComment> {
  const { id, kind, author, path, line, side, quoted, text, taskId, replies } = comment
  return {
    comment_id: id,
    kind,
    author: plainLine(author.name, 80),
    ...(withTask && { task_id: taskId }),
    ...(path !== null && { path }),
    ...(line !== null && { line }),
    ...(line !== null && side === 'old' && { side }),
    ...(quoted !== null && { quoted }),
    text: excerpt(text, 1200),
    status: replies.length > 0 ? 'answered' : 'open',
    ...(replies.length > 0 && { answers: replies.slice(-2).map((reply) => excerpt(reply.text, 300)) }),
  }
}

/** The status of a task's comments at the end of an attempt. */
export const CommentOutcomes = z.object({
  total: z.int(),
  /** Someone marked it as done, or answered. */
  done: strings,
  answered: strings,
  /** Without an answer, but the line or the file is gone. */
  changed: strings,
  open: strings,
})

/** The measurement of lines with unanswered comments; undefined if there are none. */
export function removedComments(
  comments: readonly ReviewComment[],
  end: SnapshotLocation | null,
): BriefOf<typeof commentLines> | undefined {
  const open = comments.flatMap((comment) => {
    const { id, path, line, side, content, quoted } = comment
    const isOn = commentStatus(comment) === 'open' && path !== null && line !== null && side !== 'old'
    return end !== null && isOn ? [{ id, place: end, path, line, content, quoted }] : []
  })
  return open.length === 0 ? undefined : { places: [], comments: open }
}

/** Sorts comments by status; undefined if there are none. */
export function commentStatuses(
  comments: readonly ReviewComment[],
  lines: MeasurementOf<typeof commentLines> = [],
): z.output<typeof CommentOutcomes> | undefined {
  if (comments.length === 0) return undefined
  const gone = new Set(lines.flatMap(({ id, line_is }) => (line_is === 'gone' ? [id] : [])))
  const statuses = {
    done: [] as string[],
    answered: [] as string[],
    changed: [] as string[],
    open: [] as string[],
  }
  for (const comment of comments) {
    const status = commentStatus(comment)
    statuses[status === 'open' && gone.has(comment.id) ? 'changed' : status].push(comment.id)
  }
  return { total: comments.length, ...statuses }
}

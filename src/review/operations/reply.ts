import { z } from 'zod'
import type { Actor } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { idPrefixes } from '../../kernel/id.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import { speakerOf } from '../../track/domain/task.ts'
import {
  commentStates,
  commentStatus,
  maxCommentLength,
  type ReviewComment,
  type ReviewReply,
} from '../domain/review.ts'
import { ReplyEntry, replyEntry } from './entries.ts'

/** Of agents to one comment; a person may always answer, and close it. */
const maxReplies = 50

export const replyToReview = defineOperation({
  name: 'reply_to_review',
  tool: 'reply_to_review',
  command: 'review reply',
  toolset: 'track',
  audience: 'both',
  title: 'Answer a review comment',
  description: "Answer a person's comment on your work",
  kind: 'command',
  positional: ['comment_id', 'text'],
  input: z.strictObject({
    comment_id: identifier('The comment (rc-…), or a review (rv-…)'),
    text: z.string().min(1).max(maxCommentLength).describe('Your answer, or what you did'),
    done: z.boolean().describe('You made the requested change').optional(),
  }),
  synonyms: { review_id: 'comment_id', id: 'comment_id' },
  output: ReplyEntry.extend({
    comment_id: z.string(),
    status: z.enum(commentStates),
    /** The comments that a review has, all of them answered. */
    comments: strings.optional(),
  }),
  listedOutput: ['comment_id', 'status'],
}).handler(({ record, actor }, input) =>
  record(async (reads, { at: createdAt, ids }) => {
    const comments = await commentsNamed(reads, input.comment_id, actor)
    const replies = await Promise.all(
      comments.map(async (comment): Promise<ReviewReply> => {
        const last = comment.taskId === null ? null : await reads.tasks.lastAttempt(comment.taskId)
        return {
          id: ids.next('reviewReply'),
          commentId: comment.id,
          taskId: comment.taskId,
          missionId: comment.missionId,
          attemptId: last?.status === 'open' ? last.id : null,
          text: input.text,
          done: input.done ?? false,
          author: actor.name,
          isPerson: actor.kind === 'person',
          agentName: actor.kind === 'person' ? null : speakerOf(last, actor),
          createdAt,
        }
      }),
    )
    const [[comment], [reply]] = [comments, replies]
    if (comment === undefined || reply === undefined) throw new Error('There is at least one comment.')
    return {
      events: replies.map((one) => ({ kind: 'review.replied' as const, reply: one })),
      agentName: reply.agentName,
      answer: {
        comment_id: comment.id,
        ...replyEntry(reply),
        status: commentStatus({ replies: [...comment.replies, reply] }),
        ...(comments.length > 1 && { comments: comments.map(({ id }) => id) }),
      },
    }
  }),
)

/** The comments that nobody marked as done; all of them if they all are. */
function stillOpen(comments: readonly ReviewComment[]): readonly ReviewComment[] {
  const open = comments.filter((comment) => commentStatus(comment) !== 'done')
  return open.length === 0 ? comments : open
}

/** A comment, or those of a review that are open. Fails if there is none, or if one has too many answers. */
async function commentsNamed(
  reads: Reads,
  id: string,
  { kind }: Pick<Actor, 'kind'>,
): Promise<readonly ReviewComment[]> {
  const isReview = id.startsWith(`${idPrefixes.review}-`)
  const comments = isReview
    ? stillOpen(await reads.reviews.commentsOfReview(id))
    : [await reads.reviews.comment(id)].filter((comment) => comment !== null)
  if (comments.length === 0) {
    const what = isReview ? `Review ${id} has no comment to answer` : `comment not found: ${id}`
    throw new Failure('NOT_FOUND', what, {
      reason: 'comment_not_found',
      hint: isReview
        ? hintOf`Its words need no answer: do what they ask, and complete the task with ${callTo('complete_task')}.`
        : hintOf`${callTo('get_context')} lists the comments of a review with their ids (rc-…).`,
    })
  }
  const full = comments.find(
    ({ replies }) => replies.filter(({ isPerson }) => !isPerson).length >= maxReplies,
  )
  if (full !== undefined && kind === 'agent') {
    throw new Failure('REFUSED', `Comment ${full.id} has ${maxReplies} answers, the maximum.`, {
      reason: 'too_many_replies',
      hint: hintOf`Put it into the report of the task (${callTo('complete_task')}).`,
    })
  }
  return comments
}

import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { speakerOf } from '../../track/domain/task.ts'
import { maxCommentLength, type ReviewReply } from '../domain/review.ts'
import { ReplyEntry, replyEntry } from './entries.ts'
import { commentField } from './file.ts'

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
    comment_id: commentField,
    text: z.string().min(1).max(maxCommentLength).describe('Your answer, or what you did'),
    done: z.boolean().describe('You made the requested change').optional(),
  }),
  output: ReplyEntry.extend({ comment_id: z.string(), status: z.enum(['answered', 'done']) }),
  listedOutput: ['comment_id', 'status'],
}).handler(({ record, actor }, input) =>
  record(async (reads, { at: createdAt, ids }) => {
    const comment = await reads.reviews.comment(input.comment_id)
    if (comment === null) {
      throw new Failure('NOT_FOUND', `comment not found: ${input.comment_id}`, {
        reason: 'comment_not_found',
        hint: hintOf`${callTo('get_context')} lists the comments of a review with their ids (rc-…).`,
      })
    }
    if (comment.replies.length >= maxReplies) {
      throw new Failure('REFUSED', `Comment ${comment.id} has ${maxReplies} answers, the maximum.`, {
        reason: 'too_many_replies',
        hint: hintOf`Put it into the report of the task (${callTo('complete_task')}).`,
      })
    }
    const last = comment.taskId === null ? null : await reads.tasks.lastAttempt(comment.taskId)
    const reply: ReviewReply = {
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
    const isDone = reply.done || comment.replies.some(({ done }) => done)
    return {
      events: [{ kind: 'review.replied', reply }],
      agentName: reply.agentName,
      answer: {
        comment_id: comment.id,
        ...replyEntry(reply),
        status: isDone ? ('done' as const) : ('answered' as const),
      },
    }
  }),
)

import { z } from 'zod'
import { instant } from '../../kernel/instant.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import {
  commentKinds,
  commentStatus,
  type DraftComment,
  lineStates,
  type ReviewComment,
  type ReviewReply,
  reviewActions,
  sides,
} from '../domain/review.ts'

export const ReplyEntry = z.object({
  reply_id: z.string(),
  text: z.string(),
  done: z.boolean(),
  author: z.string(),
  agent_name: z.string().nullable(),
  is_person: z.boolean(),
  created_at: z.string(),
})

/** The current location of a comment: the file may have changed since. */
export const PlaceNow = z.object({
  path: z.string().nullable(),
  /** Null if the comment is on a file or the whole, or the line is gone. */
  line: z.int().nullable(),
  line_is: z.enum(lineStates).nullable(),
})

const place = {
  path: z.string().nullable(),
  tree: z.string().nullable(),
  side: z.enum(sides),
  line: z.int().nullable(),
  content: z.string().nullable(),
  quoted: z.string().nullable(),
  kind: z.enum(commentKinds),
  text: z.string(),
  task_id: z.string().nullable(),
}

export const DraftEntry = z.object({ comment_id: z.string(), ...place, created_at: z.string() })

export const CommentEntry = z.object({
  comment_id: z.string(),
  review_id: z.string(),
  ...place,
  author: z.string(),
  created_at: z.string(),
  status: z.enum(['open', 'answered', 'done']),
  now: PlaceNow,
  replies: list(ReplyEntry),
})

export const ReviewActionEntry = z.object({
  review_id: z.string(),
  action: z.enum(reviewActions),
  text: z.string().nullable(),
  content: z.string(),
  author: z.string(),
  comments: z.int(),
  created_at: z.string(),
})

export function draftEntry(draft: DraftComment): z.output<typeof DraftEntry> {
  return { comment_id: draft.id, ...placeEntry(draft), created_at: instant(draft.createdAt) }
}

function placeEntry({ path, tree, side, line, content, quoted, kind, text, taskId }: DraftComment) {
  return { path, tree, side, line, content, quoted, kind, text, task_id: taskId }
}

export function commentEntry(
  comment: ReviewComment,
  now: z.output<typeof PlaceNow>,
): z.output<typeof CommentEntry> {
  return {
    comment_id: comment.id,
    review_id: comment.reviewId,
    ...placeEntry(comment),
    author: comment.author.name,
    created_at: instant(comment.createdAt),
    status: commentStatus(comment),
    now,
    replies: comment.replies.map(replyEntry),
  }
}

export function replyEntry(reply: ReviewReply): z.output<typeof ReplyEntry> {
  return {
    reply_id: reply.id,
    text: reply.text,
    done: reply.done,
    author: reply.author,
    agent_name: reply.agentName,
    is_person: reply.isPerson,
    created_at: instant(reply.createdAt),
  }
}

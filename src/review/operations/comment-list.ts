import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { idOf, Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { anchorComments, commentMeasurements, currentPlaces, linesBriefs } from './comment-anchors.ts'
import { CommentEntry, commentEntry, ReviewActionEntry } from './entries.ts'
import { gatherFiles, materialMeasurements } from './gather.ts'
import { commentsAbout } from './show.ts'
import { findSubject, reviewerOf, subjectFields } from './subject.ts'

export const reviewComments = defineOperation({
  name: 'review_comments',
  command: 'review comments',
  toolset: 'track',
  audience: 'both',
  title: 'List the review comments on work',
  description:
    'List the comments that people sent on a task or mission, the current location of their lines, and the answers.',
  kind: 'query',
  positional: ['task'],
  input: z.strictObject({
    task: subjectFields.task,
    mission: subjectFields.mission,
    ...pageFields(1000, 'How many comments; default 100'),
  }),
  output: z.object({
    name: z.string(),
    comments: list(CommentEntry),
    /** On the first page. */
    reviews: list(ReviewActionEntry),
    ...page,
  }),
})
  .measure({ ...materialMeasurements, ...commentMeasurements })
  .prepare(async (reads, input, context, measured) => {
    if ((input.task === undefined) === (input.mission === undefined)) {
      throw new Failure('INVALID_INPUT', 'Pass either a task or a mission, not both.', {
        reason: 'subject_missing',
        hint: hintOf`${callTo('review_comments', { task: undefined })} or ${callTo('review_comments', { mission: undefined })}.`,
      })
    }
    const resolved = await findSubject(reads, input, reviewerOf(context))
    const paging = new Paging('review_comments', input, context.actor, 100)
    const all = await commentsAbout(reads, resolved.subject, resolved)
    const { entries: remarks, ...rest } = paging.slice(all, idOf)
    const hasFiles = remarks.some(({ path }) => path !== null)
    const { briefs, found: gathered } = hasFiles
      ? await gatherFiles(reads, context, { found: resolved, measured })
      : { briefs: {}, found: { files: [] } }
    const comments = anchorComments(remarks, gathered?.files ?? [])
    return {
      briefs: { ...briefs, ...linesBriefs(context, comments) },
      found: { name: resolved.name, comments, isFirst: paging.isFirst, rest },
    }
  })
  .answer(async ({ reads, found: { name, comments, isFirst, rest }, measured }, input) => {
    const sent = isFirst ? await reads.reviews.sentAbout([input.task ?? input.mission ?? '']) : []
    const now = await currentPlaces(reads, comments, measured)
    return {
      name,
      comments: comments.map(({ comment }, at) =>
        commentEntry(comment, now[at] ?? { path: comment.path, line: null, line_is: null }),
      ),
      reviews: sent.map((review) => ({
        review_id: review.id,
        action: review.action,
        text: review.text,
        content: review.content,
        author: review.author.name,
        comments: review.comments,
        created_at: instant(review.createdAt),
      })),
      ...rest,
    }
  })

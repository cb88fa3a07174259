import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { count, text } from '../../kernel/operations/input/fields.ts'
import { requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { splitTextLines } from '../domain/lines.ts'
import {
  type CommentAnchor,
  commentKinds,
  type DraftComment,
  maxCommentLength,
  maxDrafts,
  maxQuoteLength,
  type Reviewer,
  sides,
  subjectKey,
} from '../domain/review.ts'
import { DraftEntry, draftEntry } from './entries.ts'
import { commentField, fileIn, gatherFile, namedFiles, pathField, treeField } from './file.ts'
import {
  contentsBrief,
  knownContents,
  materialMeasurements,
  placeKey,
  type ReviewedFile,
  taskOfFile,
  viewedContentId,
  viewedMark,
} from './gather.ts'
import { tasksOf } from './inspect.ts'
import { type Contents, fileContents, textOfState } from './measure-files.ts'
import { findSubject, type ResolvedSubject, reviewerOf, subjectField } from './subject.ts'

const words = z.string().min(1).max(maxCommentLength).describe('Your question or request')
const kind = z.enum(commentKinds).describe('A question wants an answer; a request wants a change')

export const reviewMark = defineOperation({
  name: 'review_mark',
  command: 'review mark',
  screen: true,
  toolset: 'track',
  audience: 'person',
  access: 'viewer',
  title: 'Mark a file as viewed',
  description: 'Mark a file as viewed with its content. If it changes later, it is unmarked.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({
    subject: subjectField,
    path: pathField,
    tree: treeField,
    content: z.string().max(100).describe('Its `after` as you saw it; empty if there is none'),
    viewed: z.boolean(),
  }),
  output: z.object({ path: z.string(), content: z.string(), viewed: z.boolean() }),
})
  .measure(materialMeasurements)
  .prepare(async (reads, input, context, measured) => {
    const { briefs, ...found } = await gatherFile(reads, context, { input, measured })
    return { briefs, found }
  })
  .record(async ({ found, context, setting }, input) => {
    const { content, viewed } = input
    const file = fileIn(requireMeasured(found.gathered ?? undefined), input)
    if (viewed && content !== viewedContentId(file)) {
      throw new Failure('CONFLICT', `"${file.path}" changed after you viewed it.`, {
        reason: 'content_changed',
        hint: 'View it again. Only what changed since is shown.',
        details: { path: file.path, shown: content, content: viewedContentId(file) },
      })
    }
    return {
      events: [],
      sideWrites: [
        {
          kind: 'files viewed',
          ownerId: reviewerOf(context).id,
          subject: subjectKey(found.subject.subject),
          at: setting.at,
          files: [{ place: placeKey(file), content: viewed ? viewedMark(file) : null }],
        },
      ],
      answer: { path: file.path, content, viewed },
    }
  })

export const reviewComment = defineOperation({
  name: 'review_comment',
  command: 'review comment',
  screen: true,
  toolset: 'track',
  audience: 'person',
  access: 'contributor',
  title: 'Write a comment',
  description:
    'Comment on a line, a file or the whole, or change an unsent comment. Only you see it until you send your review.',
  kind: 'command',
  input: z.strictObject({
    subject: subjectField,
    path: pathField.optional(),
    tree: treeField,
    side: z
      .enum(sides)
      .describe('Side of the line: before the work (old) or now (new); default new')
      .optional(),
    line: count('Line number from 1; none for the whole file', 10_000_000).optional(),
    quoted: text('The line as you saw it; refused if it has changed').optional(),
    comment_id: commentField.describe('Your unsent comment, to change its kind and text').optional(),
    kind,
    text: words,
  }),
  output: DraftEntry,
})
  .measure({ ...materialMeasurements, contents: fileContents })
  .prepare(async (reads, input, context, measured) => {
    assertLineHasFile(input)
    const { path, line, side, comment_id: id } = input
    if (path === undefined || id !== undefined) {
      const subject = await findSubject(reads, input.subject, reviewerOf(context))
      return { briefs: {}, found: { subject, gathered: null } }
    }
    const { briefs, ...found } = await gatherFile(reads, context, { input, measured })
    const file = found.gathered && namedFiles(found.gathered, input)[0]
    const contents = file && line !== undefined ? [stateOn(file, side)?.id] : []
    return { briefs: { ...briefs, contents: contentsBrief(context, file ? [file] : [], contents) }, found }
  })
  .record(async ({ reads, found, measured, context, setting }, input) => {
    const owner = reviewerOf(context)
    if (input.comment_id !== undefined) {
      const { draft, subject } = await findDraft(reads, owner, input.comment_id)
      return keepDraft(owner, subject, { ...draft, kind: input.kind, text: input.text })
    }
    const file = input.path === undefined ? null : fileIn(requireMeasured(found.gathered ?? undefined), input)
    const contents = await knownContents(reads, measured, [file && stateOn(file, input.side)?.id])
    const anchor = anchorOf(file, input, contents)
    const { subject } = found.subject
    const taskId = file === null ? singleTask(found.subject) : taskOfFile(file)
    if (taskId === null && subject.kind === 'since') {
      throw new Failure('INVALID_INPUT', 'A comment on all work needs a file: no agent reads it otherwise.', {
        reason: 'comment_without_subject',
        hint: 'Pass path, or comment on a whole task or mission.',
      })
    }
    const key = subjectKey(subject)
    const written = await reads.reviews.drafts(owner.id, key)
    if (written.length >= maxDrafts) {
      throw new Failure(
        'REFUSED',
        `You have ${formatCount(written.length, 'unsent comment')} here, the maximum.`,
        { reason: 'too_many_drafts', hint: 'Send them, or delete some.' },
      )
    }
    const draft: DraftComment = {
      id: setting.ids.next('reviewComment'),
      ...anchor,
      kind: input.kind,
      text: input.text,
      taskId,
      missionId: subject.kind === 'since' ? null : subject.missionId,
      createdAt: setting.at,
    }
    return keepDraft(owner, key, draft)
  })

function keepDraft({ id: ownerId }: Reviewer, subject: string, draft: DraftComment) {
  return {
    events: [],
    sideWrites: [{ kind: 'draft kept' as const, ownerId, subject, draft }],
    answer: draftEntry(draft),
  }
}

export const reviewCommentDrop = defineOperation({
  name: 'review_comment_drop',
  command: 'review comment drop',
  screen: true,
  toolset: 'track',
  audience: 'person',
  access: 'contributor',
  title: 'Delete an unsent comment',
  description: 'Delete a comment that you have not sent.',
  kind: 'command',
  destructive: true,
  input: z.strictObject({ comment_id: commentField }),
  output: z.object({ comment_id: z.string(), dropped: z.literal(true) }),
}).handler((handling, { comment_id: id }) =>
  handling.record(async (reads) => {
    const owner = reviewerOf(handling)
    const { draft } = await findDraft(reads, owner, id)
    return {
      events: [],
      sideWrites: [{ kind: 'drafts dropped', ownerId: owner.id, ids: [draft.id] }],
      answer: { comment_id: draft.id, dropped: true as const },
    }
  }),
)

async function findDraft({ reviews }: Reads, owner: Reviewer, id: string) {
  const draft = await reviews.draft(owner.id, id)
  if (draft) return draft
  if ((await reviews.comment(id)) !== null) {
    throw new Failure('CONFLICT', `Cannot change comment ${id}: it was sent.`, {
      reason: 'comment_sent',
      hint: hintOf`Add another comment, or answer in its thread with ${callTo('reply_to_review')}.`,
    })
  }
  throw new Failure('NOT_FOUND', `You have no unsent comment ${id}.`, {
    reason: 'draft_not_found',
    hint: hintOf`${callTo('review_show')} lists your drafts.`,
  })
}

interface CommentAnchorInput {
  readonly path?: string | undefined
  readonly side?: CommentAnchor['side'] | undefined
  readonly line?: number | undefined
  readonly quoted?: string | undefined
}

function assertLineHasFile({ path, line }: CommentAnchorInput): void {
  if (path !== undefined || line === undefined) return
  throw new Failure('INVALID_INPUT', `Line ${line} needs a file: pass path with it.`, {
    reason: 'path_missing',
    hint: 'Omit line for a comment on the whole.',
  })
}

function stateOn({ before, after }: ReviewedFile, side: CommentAnchor['side'] = 'new') {
  return side === 'old' ? before : after
}

/** The anchor in the current file, with the line quoted from its content. */
function anchorOf(
  file: ReviewedFile | null,
  { side = 'new', line, quoted }: CommentAnchorInput,
  contents: Contents,
): CommentAnchor {
  if (file === null) return { path: null, tree: null, side, line: null, content: null, quoted: null }
  const state = stateOn(file, side)
  const about = { path: file.path, tree: file.tree, side, content: state?.id ?? null }
  if (line === undefined) return { ...about, line: null, quoted: null }
  const lines = splitTextLines(textOfState(state, contents))
  const there = lines[line - 1]
  if (there === undefined) {
    throw new Failure(
      'INVALID_INPUT',
      `"${file.path}" has ${formatCount(lines.length, 'line')} on the ${side} side, so no line ${line}.`,
      { reason: 'lines_out_of_range', hint: 'Pass a line of its diff, with its side.' },
    )
  }
  if (quoted !== undefined && !there.startsWith(quoted.slice(0, 100))) {
    throw new Failure(
      'CONFLICT',
      `Line ${line} of "${file.path}" has changed: it is now "${excerpt(there, 100)}".`,
      { reason: 'content_changed', hint: 'View the file again.' },
    )
  }
  return { ...about, line, quoted: excerpt(there, maxQuoteLength) }
}

/** The task of a comment on the whole; null if there are several. */
function singleTask(resolved: ResolvedSubject) {
  const tasks = tasksOf(resolved)
  return tasks.length === 1 ? (tasks[0] ?? null) : null
}

import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount, plainLine } from '../../kernel/text.ts'
import { blocks, cutNote, indentText, section } from '../../surfaces/cli/render/parts.ts'
import { clockTime, escapeLineBreaks, formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { deniedLine, nextStepLines, verdictText } from '../../track/cli/verdict.ts'
import { actionWords } from '../domain/review.ts'

type ReviewView = OutputOf<'review_show'>
type Comment = ReviewView['comments'][number]
type DraftRow = ReviewView['drafts'][number]
type ReviewActionRow = Omit<ReviewView['reviews'][number], 'current' | 'task_id'> & {
  readonly current?: boolean
}

/** The comments on work with their replies, and the reviews, oldest first. */
export const reviewComments: AnswerView<'review_comments'> = ({ name, comments, reviews }, page) =>
  blocks(
    page.ink('bold', escapeLineBreaks(name)),
    comments.length === 0 ? 'There are no comments.' : comments.map(commentText).join('\n'),
    section('Reviews', reviewList(reviews, page), page),
  )

const maxFiles = 200

/** Of a file whose present content the reader has viewed. */
export const unchangedSinceViewed = 'unchanged since you viewed it'

/** A review without the lines of its diff. */
export const reviewShow: AnswerView<'review_show'> = (answer, page) => {
  const { subject, totals, files, comments, drafts, reviews, waiting, may, notes } = answer
  const visible = files.slice(0, maxFiles)
  return blocks(
    reviewHeading(answer, page),
    subject.goal === null ? '' : subject.goal,
    section('Files', indentText(visible.map(fileLine).join('\n')), page),
    cutNote(visible.length, totals.files, 'waymark review shows all.'),
    section('Comments', indentText(comments.map(commentText).join('\n')), page),
    section('Your comments that are not sent', indentText(drafts.map(draftLine).join('\n')), page),
    section('Reviews', reviewList(reviews, page), page),
    section('Needs a person', indentText(waiting.map(waitingLine).join('\n')), page),
    [...(may.why === null ? [] : [may.why]), ...notes].join('\n'),
  )
}

/** The subject of a review, its size, the hash of its content, and the verdict with its reasons. */
export function reviewHeading(
  {
    subject,
    agents,
    files,
    totals,
    content,
    verdict,
    unchanged_claims: unchanged,
    not_mine: denied,
    claimed,
    attempts,
    waiting,
  }: ReviewView,
  page: Pick<RenderContext, 'ink'>,
): string {
  const by = agents.length === 0 ? '' : `  by ${agents.map(escapeLineBreaks).join(', ')}`
  const since =
    subject.since === null ? 'Everything' : `Everything since ${clockTime(subject.since).slice(0, 16)}`
  const head =
    subject.kind === 'since'
      ? since
      : `${escapeLineBreaks(subject.name)}  ${subject.task_id ?? subject.mission_id ?? ''}`
  const ended = attempts.filter(({ status }) => status !== 'open').length
  const trees = new Set(files.map(({ tree_name: tree }) => tree)).size
  const sum = subject.kind === 'task' && ended > 1 ? `The task now, after ${ended} attempts: ` : ''
  return [
    `${head}${by}`,
    ...(claimed === null || claimed.status === 'success' ? [] : [endedText(claimed)]),
    ...(claimed?.correction ? [escapeLineBreaks(claimed.correction)] : []),
    `${sum}${formatCount(totals.files, 'file')}${trees > 1 ? ` in ${trees} work trees` : ''}, +${totals.added} -${totals.removed}${totals.viewed === 0 ? '' : `, ${formatCount(totals.viewed, 'file')} ${unchangedSinceViewed}`}; content of this review ${content.slice(0, 12)}`,
    ...(verdict === null
      ? unchanged.map((path) => `✗ Claimed but unchanged: ${escapeLineBreaks(path)}`)
      : [verdictText(verdict, page, null)]),
    ...nextStepLines(verdict, { taskId: subject.task_id ?? '', open: waiting }),
    ...deniedLine(denied),
  ].join('\n')
}

/** That the last attempt did not finish the task. */
function endedText({ author, status, summary }: NonNullable<ReviewView['claimed']>): string {
  const says = `${escapeLineBreaks(author)} says: ${plainLine(summary, 300)}`
  return status === 'failed'
    ? `The last attempt failed, and the task stays to do, also if you approve. ${says}`
    : `The last attempt is partly done. ${says}`
}

export function fileLine({
  status,
  path,
  from,
  tree_name: tree,
  added,
  removed,
  viewed,
  certainty,
}: ReviewView['files'][number]): string {
  return [
    `${status[0]?.toUpperCase()} ${escapeLineBreaks(`${from === null ? '' : `${from} → `}${path}${tree === null ? '' : ` in ${tree}`}`)}`,
    added === null ? '' : ` +${added} -${removed ?? 0}`,
    viewed === null ? '' : viewed.current ? ` (${unchangedSinceViewed})` : ' (changed since you viewed it)',
    certainty === 'certain' ? '' : ` (${certainty === 'contested' ? 'unclear who changed it' : certainty})`,
  ].join('')
}

/** A comment with its line and its replies. */
export function commentText(comment: Comment): string {
  const { comment_id: id, kind, author, status, text, quoted, replies } = comment
  return [
    `${kind} ${id} of ${escapeLineBreaks(author)}${commentPlaceText(comment)} (${status})`,
    indentText(
      [
        ...(quoted === null ? [] : [`> ${escapeLineBreaks(quoted)}`]),
        text,
        ...replies.map(
          (reply) =>
            `${escapeLineBreaks(reply.agent_name ?? reply.author)} ${reply.done ? 'says it is done' : 'answers'}: ${reply.text}`,
        ),
      ].join('\n'),
    ),
  ].join('\n')
}

/** The current location of a comment: its line may have moved or be gone. */
function commentPlaceText({ path, line, now }: Comment): string {
  if (path === null) return ''
  const file = escapeLineBreaks(now.path ?? path)
  if (line === null) return ` on ${file}`
  if (now.line !== null) return ` on ${file}:${now.line}`
  return now.line_is === 'gone'
    ? ` on ${file}, line ${line}, which is gone`
    : ` on ${file}, line ${line} as it was`
}

export function draftLine({ comment_id: id, kind, path, line, text }: DraftRow): string {
  const place = path === null ? 'the whole' : `${escapeLineBreaks(path)}${line === null ? '' : `:${line}`}`
  return `${kind} ${id} on ${place}: ${plainLine(text, 200)}`
}

function reviewList(reviews: readonly ReviewActionRow[], page: RenderContext): string {
  return indentText(
    reviews
      .map(({ action, author, text, comments, created_at: createdAt, current }) => {
        const changed = action === 'approve' && current === false ? ', before it changed' : ''
        const count = comments === 0 ? '' : `, with ${formatCount(comments, 'comment')}`
        return `${actionWords[action]} by ${escapeLineBreaks(author)} ${formatAge(createdAt, page.now)}${changed}${count}${text === null ? '' : `: ${text}`}`
      })
      .join('\n'),
  )
}

/** An open question about the work. The reasons of a verdict are above. */
export function waitingLine({ item_id: id, kind, reason }: ReviewView['waiting'][number]): string {
  return `${id}  ${kind === 'verdict' ? 'verdict' : `${kind.replace(/_/g, ' ')}: ${reason.replace(/\n/g, '\n  ')}`}`
}

export const replySent: AnswerView<'reply_to_review'> = ({ comment_id: id, status }, { ink }) =>
  `${ink('green', 'Answered')} comment ${id}${status === 'done' ? ', as done' : ''}.`

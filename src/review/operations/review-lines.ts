import type { TaskId } from '../../kernel/id.ts'
import { plainLine } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { sentBackOf } from './sent-back.ts'

// Reviews of the work as lines of text. Without schemas, to load fast in hooks.

const maxLines = 5

/** The comments that agents at some tasks must answer, for a brief. */
export async function openCommentLines(reads: Reads, taskIds: readonly TaskId[]): Promise<readonly string[]> {
  const comments = await reads.reviews.commentsOn(taskIds)
  const open = comments.filter(({ replies }) => replies.length === 0)
  const lines = open.slice(0, maxLines).map(({ id, kind, author, taskId, path, line, quoted, text }) => {
    const where = path === null ? `task ${taskId}` : `${path}${line === null ? '' : `:${line}`}`
    const quotation = quoted === null ? '' : ` ("${plainLine(quoted, 80)}")`
    return `Review ${kind} ${id} of ${plainLine(author.name, 80)} on ${plainLine(where, 200)}${quotation}: ${plainLine(text, 200)} Answer with reply_to_review.`
  })
  const more = open.length - lines.length
  return [
    ...(await sentBackLines(reads, taskIds.slice(0, maxLines))),
    ...lines,
    ...(more > 0 ? [`${more} more review comments wait: start_task and get_context list them.`] : []),
  ]
}

/** Who sent tasks back and why, unless they were approved since. */
export async function sentBackLines(reads: Reads, taskIds: readonly TaskId[]): Promise<readonly string[]> {
  const returns = await Promise.all(taskIds.map((id) => sentBackOf(reads, id)))
  return returns.flatMap((sentBack, at) => {
    if (sentBack === null) return []
    const words = sentBack.text === null ? 'with comments' : plainLine(sentBack.text, 300)
    return [`Task ${taskIds[at]} was sent back by ${plainLine(sentBack.author, 80)}: ${endSentence(words)}`]
  })
}

function endSentence(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`
}

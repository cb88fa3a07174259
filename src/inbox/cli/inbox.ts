import { shortenContent } from '../../gate/domain/approved-content.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { blocks, bullets, cutNote, indentText } from '../../surfaces/cli/render/parts.ts'
import { escapeLineBreaks, formatAge, withPerson } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { quoteText } from '../../track/cli/records.ts'
import type { InboxItemEntry } from '../operations/item-answer.ts'

type InboxRow = OutputOf<'inbox'>['holds'][number]

export const inbox: AnswerView<'inbox'> = (answer, page) => {
  const { holds } = answer
  if (holds.length === 0) return 'Nothing waits for you.'
  const lines = holds.map((hold) =>
    [inboxItemText(hold, page), indentText(answerLines(hold))].filter(Boolean).join('\n'),
  )
  return blocks(...lines)
}

/** What is asked, or the command that shows it; and each way to answer. */
function answerLines(hold: InboxRow): string {
  const answers = hold.answers.map(({ verb, command }) => {
    const content =
      verb === 'Approve' && hold.content !== null ? ` --content ${shortenContent(hold.content)}` : ''
    return `${verb}: ${command}${content}`
  })
  return [...shownLines(hold), ...answers].filter((line) => line !== '').join('\n')
}

function shownLines({ request, task_id: task, mission_id: mission }: InboxRow): readonly string[] {
  if (request?.kind === 'command') {
    const files = (request.files ?? []).map(
      ({ path, sha256 }) => `pinned ${path}  ${sha256?.slice(0, 12) ?? 'none'}`,
    )
    return [...files, request.before?.diff.trimEnd() ?? '']
  }
  if (!request?.approvals.some(({ of }) => of === 'changes')) return []
  return [task === null ? `waymark mission changes ${mission}` : `waymark diff ${task}`]
}

/** What waits for a person: each hold with why, who opened it, and its files. */
export function inboxList(holds: readonly InboxItemEntry[], page: RenderContext): string {
  return blocks(...holds.map((hold) => inboxItemText(hold, page)))
}

function inboxItemText(hold: InboxItemEntry & Partial<InboxRow>, page: RenderContext): string {
  const { ink } = page
  const about = [hold.run_id, hold.task_id, hold.mission_id].filter((id) => id !== null)
  const head = [
    ink('bold', hold.hold_id),
    ink('yellow', hold.kind.replace(/_/g, ' ')),
    ...about.map((id) => ink('dim', id)),
    `opened by ${withPerson(hold.opened_by, hold.opened_by_person)} ${formatAge(hold.opened_at, page.now)}`,
  ]
  const lines = [
    hold.mission_name ? `Mission: ${escapeLineBreaks(hold.mission_name)}` : '',
    hold.task_name ? `Task: ${escapeLineBreaks(hold.task_name)}` : '',
    hold.reason,
    indentText(bullets(hold.paths.map(escapeLineBreaks))),
    cutNote(hold.paths.length, hold.paths_total, `waymark changes ${hold.task_id} lists all files.`),
    hold.workaround ? `${hold.opened_by} says it did meanwhile: ${quoteText(hold.workaround, page)}` : '',
    hold.closed_by
      ? `${hold.said ?? hold.status} by ${hold.closed_by}: ${hold.answer ?? 'without an answer'}`
      : '',
  ]
  return [head.join('  '), ...lines.map((line) => indentText(line))].filter((line) => line !== '').join('\n')
}

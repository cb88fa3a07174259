import { shortenContent } from '../../gate/domain/approved-content.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { blocks, bullets, cutNote, indentText } from '../../surfaces/cli/render/parts.ts'
import { escapeLineBreaks, formatAge, withLocalTimes, withPerson } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { quoteText } from '../../track/cli/records.ts'
import { itemOutcome } from '../domain/inbox-item.ts'
import type { InboxItemEntry } from '../operations/item-answer.ts'

type InboxRow = OutputOf<'inbox'>['items'][number]

export const inbox: AnswerView<'inbox'> = (answer, page) => {
  const { items } = answer
  if (items.length === 0) return 'Nothing needs you.'
  const lines = items.map((item) =>
    [inboxItemText(item, page), indentText(answerLines(item))].filter(Boolean).join('\n'),
  )
  return blocks(...lines)
}

/** The question of an item, or the command that shows it; and the possible answers. */
function answerLines(item: InboxRow): string {
  const answers = item.answers.map(({ verb, command }) => {
    const content =
      verb === 'Approve' && item.content !== null ? ` --content ${shortenContent(item.content)}` : ''
    return `${verb}: ${command}${content}`
  })
  return [...shownLines(item), ...answers].filter((line) => line !== '').join('\n')
}

function shownLines({ request, task_id: task, mission_id: mission }: InboxRow): readonly string[] {
  if (request?.kind === 'command') {
    const files = (request.files ?? []).map(({ path, sha256, text }) =>
      text === undefined ? `pinned ${path}  ${sha256?.slice(0, 12) ?? 'none'}` : `runs ${path}: ${text}`,
    )
    return [...files, request.before?.diff.trimEnd() ?? '']
  }
  if (request?.kind === 'changes') {
    const heldFiles = request.files.filter(({ git }) => git !== null)
    return [
      task === null ? `waymark mission changes ${mission}` : `waymark diff ${task}`,
      ...(heldFiles.length === 0
        ? []
        : [
            'The file in git differs from the one on disk:',
            ...heldFiles.map((file) => `git diff HEAD -- ${quoteShellWord(file.path)}`),
          ]),
    ]
  }
  if (!request?.approvals.some(({ of }) => of === 'changes')) return []
  return [task === null ? `waymark mission changes ${mission}` : `waymark diff ${task}`]
}

/** The inbox: each item with its reason, its opener and its files. */
export function inboxList(items: readonly InboxItemEntry[], page: RenderContext): string {
  return blocks(...items.map((item) => inboxItemText(item, page)))
}

function inboxItemText(item: InboxItemEntry & Partial<InboxRow>, page: RenderContext): string {
  const { ink } = page
  const about = [item.run_id, item.task_id, item.mission_id].filter((id) => id !== null)
  const head = [
    ink('bold', item.item_id),
    ink('yellow', item.kind.replace(/_/g, ' ')),
    ...about.map((id) => ink('dim', id)),
    `opened by ${withPerson(item.opened_by, item.opened_by_person)} ${formatAge(item.opened_at, page.now)}`,
  ]
  const lines = [
    item.mission_name ? `Mission: ${escapeLineBreaks(item.mission_name)}` : '',
    item.task_name ? `Task: ${escapeLineBreaks(item.task_name)}` : '',
    withLocalTimes(item.reason, page.now),
    indentText(bullets(item.paths.map(escapeLineBreaks))),
    cutNote(item.paths.length, item.paths_total, `waymark changes ${item.task_id} lists all files.`),
    item.workaround ? `Workaround by ${item.opened_by}: ${quoteText(item.workaround, page)}` : '',
    item.closed_by
      ? `${itemOutcome(item)} by ${item.closed_by}${item.answer === null ? '' : `: ${item.answer}`}`
      : '',
  ]
  return [head.join('  '), ...lines.map((line) => indentText(line))].filter((line) => line !== '').join('\n')
}

import { shortened } from '../../../domain/gate/approved-content.ts'
import { blocks, bullets, cutNote, indented, nextPage } from './parts.ts'
import { quoted } from './records.ts'
import { age, inOneLine } from './text.ts'
import { type Entry, entriesAt, entryAt, numberAt, type Page, textAt, textsAt, type View } from './view.ts'

/** What is asked, or the command that shows it; and each way to answer. */
function answerLine(hold: Entry): string {
  const content = textAt(hold, 'content')
  const answers = entriesAt(hold, 'answers').map((answer) => {
    const [verb, command] = [textAt(answer, 'verb'), textAt(answer, 'command')]
    return `${verb}: ${command}${verb === 'Approve' && content !== '' ? ` --content ${shortened(content)}` : ''}`
  })
  return [...shownLines(hold), ...answers].filter((line) => line !== '').join('\n')
}

function shownLines(hold: Entry): readonly string[] {
  const request = entryAt(hold, 'request') ?? {}
  if (entriesAt(request, 'approvals').some((approval) => textAt(approval, 'of') === 'changes')) {
    const [task, mission] = [textAt(hold, 'task_id'), textAt(hold, 'mission_id')]
    return [task === '' ? `waymark mission changes ${mission}` : `waymark diff ${task}`]
  }
  const files = entriesAt(request, 'files').map(
    (file) => `pinned ${textAt(file, 'path')}  ${textAt(file, 'sha256').slice(0, 12) || 'none'}`,
  )
  return [...files, textAt(entryAt(request, 'before') ?? {}, 'diff').trimEnd()]
}

export const inbox: View = (answer, page) => {
  const holds = entriesAt(answer, 'holds')
  if (holds.length === 0) return 'Nothing waits for you.'
  return blocks(
    holdList(holds, page, answerLine),
    cutNote(holds.length, numberAt(answer, 'total'), nextPage(answer)),
  )
}

export const resolve: View = (answer, { ink }) => {
  const said = textAt(answer, 'answer')
  const done = textAt(answer, 'status') === 'dismissed' ? 'Dismissed' : 'Resolved'
  const kind = textAt(answer, 'kind').replace(/_/g, ' ')
  return `${ink('green', done)} ${kind} ${textAt(answer, 'hold_id')}.${said === '' ? '' : ` The agent is told: ${said}`}`
}

/** What waits for a person: each hold with why, who opened it, and its files. */
export function holdList(
  holds: readonly Entry[],
  page: Page,
  more: (hold: Entry) => string = () => '',
): string {
  return holds
    .map((hold) => [holdText(hold, page), indented(more(hold))].filter((line) => line !== '').join('\n'))
    .join('\n\n')
}

function holdText(hold: Entry, page: Page): string {
  const { ink } = page
  const kind = textAt(hold, 'kind').replace(/_/g, ' ')
  const about = ['run_id', 'task_id', 'mission_id']
    .map((field) => textAt(hold, field))
    .filter((id) => id !== '')
  const head = [
    ink('bold', textAt(hold, 'hold_id')),
    ink('yellow', kind),
    ...about.map((id) => ink('dim', id)),
  ]
  const opened = `opened by ${textAt(hold, 'opened_by')} ${age(textAt(hold, 'opened_at'), page.now)}`
  const task = inOneLine(textAt(hold, 'task_name'))
  const mission = inOneLine(textAt(hold, 'mission_name'))
  const workaround = textAt(hold, 'workaround')
  const closed = textAt(hold, 'closed_by')
  const lines = [
    `${head.join('  ')}  ${opened}`,
    indented(mission === '' ? '' : `Mission: ${mission}`),
    indented(task === '' ? '' : `Task: ${task}`),
    indented(textAt(hold, 'reason')),
    indented(bullets(textsAt(hold, 'paths').map(inOneLine)), 4),
    workaround === '' ? '' : indented(`The agent says it did meanwhile: ${quoted(workaround, page)}`),
    closed === ''
      ? ''
      : indented(`${textAt(hold, 'status')} by ${closed}: ${textAt(hold, 'answer') || 'without an answer'}`),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

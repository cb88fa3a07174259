import { age } from '../../text/age.ts'
import { inOneLine } from '../../text/one-line.ts'
import { type Entry, textAt, textsAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { quoted } from './claims.ts'
import { bullets, indented } from './sections.ts'

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

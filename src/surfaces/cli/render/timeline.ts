import { countsInWords } from './changes.ts'
import { blocks, pairs, section, statusWord } from './parts.ts'
import { table } from './table.ts'
import { clockTime, lasting } from './text.ts'
import type { Page, View } from './view.ts'
import { type Entry, entriesAt, entryAt, numberAt, textAt } from './view.ts'

/** What happened in a mission, in the order in which it did. */
export const timeline: View = (answer, page) => {
  const tasks = new Map(entriesAt(answer, 'tasks').map((task) => [textAt(task, 'id'), textAt(task, 'name')]))
  const totals = entryAt(answer, 'totals') ?? {}
  const head = pairs(
    [
      ['id', textAt(answer, 'id')],
      ['status', statusWord(textAt(answer, 'status'), page)],
      ['tasks', `${numberAt(totals, 'done')} of ${numberAt(totals, 'tasks')} done`],
      ['began', clockTime(textAt(answer, 'created_at'))],
      ['ended', textAt(answer, 'completed_at') === '' ? '' : clockTime(textAt(answer, 'completed_at'))],
    ],
    page,
  )
  return blocks(
    `${page.ink('bold', textAt(answer, 'name'))}\n${head}`,
    section('Attempts', attempts(entriesAt(answer, 'attempts'), tasks, page), page) ||
      'No task was started yet.',
    section('Said', said(entriesAt(answer, 'marks'), tasks, page), page),
  )
}

type Names = ReadonlyMap<string, string>

function attempts(entries: readonly Entry[], names: Names, page: Page): string {
  const columns = [
    { title: 'began' },
    { title: 'took' },
    { title: 'task', shrinks: true },
    { title: 'agent' },
    { title: 'status' },
    { title: 'measured', shrinks: true },
  ]
  const rows = entries
    .toSorted((a, b) => textAt(a, 'opened_at').localeCompare(textAt(b, 'opened_at')))
    .map((attempt) => {
      const counts = entryAt(attempt, 'counts')
      const out = attempt['scope_match'] === false ? page.ink('red', ', out of scope') : ''
      return [
        clockTime(textAt(attempt, 'opened_at')),
        took(attempt, page.now),
        `${names.get(textAt(attempt, 'task_id')) ?? ''} ${page.ink('dim', textAt(attempt, 'task_id'))}`,
        textAt(attempt, 'agent'),
        statusWord(textAt(attempt, 'status'), page),
        counts === null ? '' : `${countsInWords(counts)}${out}`,
      ]
    })
  return table(columns, rows, page)
}

function took(attempt: Entry, now: number): string {
  const ended = textAt(attempt, 'closed_at')
  const end = ended === '' ? now : Date.parse(ended)
  return lasting(Math.max(0, Math.round((end - Date.parse(textAt(attempt, 'opened_at'))) / 1000)))
}

function said(marks: readonly Entry[], names: Names, page: Page): string {
  const columns = [
    { title: 'at' },
    { title: 'what' },
    { title: 'agent' },
    { title: 'task', shrinks: true },
    { title: 'words', shrinks: true },
  ]
  const rows = marks
    .toSorted((a, b) => textAt(a, 'at').localeCompare(textAt(b, 'at')))
    .map((mark) => [
      clockTime(textAt(mark, 'at')),
      textAt(mark, 'kind'),
      textAt(mark, 'agent'),
      names.get(textAt(mark, 'task_id')) ?? textAt(mark, 'task_id'),
      page.ink('italic', textAt(mark, 'text')),
    ])
  return table(columns, rows, page)
}

import { needsYouText } from '../../inbox/domain/inbox-item.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { blocks, pairs, section, statusWord } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { clockTime, formatDuration } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { countsInWords } from '../../track/cli/changes.ts'

/** The events of a mission, in order. */
export const timeline: AnswerView<'mission_timeline'> = (answer, page) => {
  const tasks = new Map(answer.tasks.map((task) => [task.id, task.name]))
  const { totals, completed_at: ended } = answer
  const head = pairs(
    [
      ['id', answer.id],
      ['status', statusWord(answer.status, page)],
      ['tasks', `${totals.done} of ${totals.tasks} done${needsYouText(totals.done_waiting)}`],
      ['began', clockTime(answer.created_at)],
      ['ended', ended === null ? '' : clockTime(ended)],
      ['ended by', answer.completed_by ?? ''],
    ],
    page,
  )
  return blocks(
    `${page.ink('bold', answer.name)}\n${head}`,
    section('Attempts', attempts(answer.attempts, tasks, page), page) || 'No task was started yet.',
    section('Said', marksTable(answer.marks, tasks, page), page),
  )
}

type TimelineAnswer = OutputOf<'mission_timeline'>
type TaskNames = ReadonlyMap<string, string>

function attempts(entries: TimelineAnswer['attempts'], names: TaskNames, page: RenderContext): string {
  const columns = [
    { title: 'began' },
    { title: 'took' },
    { title: 'task', shrinks: true },
    { title: 'agent' },
    { title: 'status' },
    { title: 'measured', shrinks: true },
  ]
  const rows = entries
    .toSorted((a, b) => a.opened_at.localeCompare(b.opened_at))
    .map((attempt) => {
      const { out_of_scope = 0, out_of_scope_accepted = 0 } = attempt.lines ?? {}
      const isOut = attempt.scope_match === false && out_of_scope > out_of_scope_accepted
      const out = isOut ? page.ink('red', ', out of scope') : ''
      return [
        clockTime(attempt.opened_at),
        attemptDuration(attempt, page.now),
        `${names.get(attempt.task_id) ?? ''} ${page.ink('dim', attempt.task_id)}`,
        attempt.agent ?? '',
        statusWord(attempt.status, page),
        attempt.counts ? `${countsInWords(attempt.counts)}${out}` : '',
      ]
    })
  return table(columns, rows, page)
}

function attemptDuration(attempt: TimelineAnswer['attempts'][number], now: number): string {
  const end = attempt.closed_at === null ? now : Date.parse(attempt.closed_at)
  return formatDuration(Math.max(0, Math.round((end - Date.parse(attempt.opened_at)) / 1000)))
}

function marksTable(marks: TimelineAnswer['marks'], names: TaskNames, page: RenderContext): string {
  const columns = [
    { title: 'at' },
    { title: 'what' },
    { title: 'agent' },
    { title: 'task', shrinks: true },
    { title: 'words', shrinks: true },
  ]
  const rows = marks
    .toSorted((a, b) => a.created_at.localeCompare(b.created_at))
    .map((mark) => [
      clockTime(mark.created_at),
      mark.kind,
      mark.agent ?? '',
      names.get(mark.task_id) ?? mark.task_id,
      page.ink('italic', mark.text),
    ])
  return table(columns, rows, page)
}

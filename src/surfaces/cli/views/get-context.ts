import { type Entry, entriesAt, numberAt, textAt } from './entry.ts'
import { nextPage } from './parts/next-page.ts'
import { phaseTable } from './parts/phase-table.ts'
import { runLines } from './parts/run-lines.ts'
import { decisionList, issueList, progressList } from './parts/said.ts'
import { blocks, cutNote, pairs, section } from './parts/sections.ts'
import { statusWord } from './parts/status-word.ts'
import { taskTable } from './parts/task-table.ts'
import type { Page, View } from './view.ts'

export const getContext: View = (answer, page) =>
  blocks(
    contextHead(answer, page),
    section('Runs', runLines(answer, page), page),
    section('Phases', phaseTable(entriesAt(answer, 'phase_summary'), page), page),
    list('Tasks', 'tasks', answer, page),
    list('Blockers', 'blockers', answer, page),
    section('Answered', issueList(entriesAt(answer, 'answered_blockers'), page), page),
    list('Decisions', 'decisions', answer, page),
    list('Progress', 'milestones', answer, page),
  )

const shown = {
  tasks: taskTable,
  blockers: issueList,
  decisions: decisionList,
  milestones: progressList,
} as const

function contextHead(answer: Entry, page: Page): string {
  const phases = `${numberAt(answer, 'current_phase')} of ${numberAt(answer, 'total_phases')}`
  const rows: readonly (readonly [string, string])[] = [
    ['id', textAt(answer, 'mission_id')],
    ['objective', textAt(answer, 'objective')],
    ['status', statusWord(textAt(answer, 'mission_status'), page)],
    ['phase', phases],
  ]
  return `${page.ink('bold', textAt(answer, 'mission_name'))}\n${pairs(rows, page)}`
}

function list(title: string, field: keyof typeof shown, answer: Entry, page: Page): string {
  const entries = entriesAt(answer, field)
  const cut = cutNote(entries.length, numberAt(answer, `${field}_total`), nextPage(answer))
  return blocks(section(title, shown[field](entries, page), page), entries.length === 0 ? '' : cut)
}

import { counted } from '../../../domain/text.ts'
import { holdList } from './inbox.ts'
import { blocks, cutNote, nextPage, pairs, section, statusWord } from './parts.ts'
import { claims, decisionList, issueList, progressList } from './records.ts'
import { table } from './table.ts'
import { taskTable } from './task.ts'
import { age, lasting } from './text.ts'
import { type Entry, entriesAt, numberAt, type Page, textAt, textsAt, type View } from './view.ts'

export const listMissions: View = (answer, page) => {
  const missions = entriesAt(answer, 'missions')
  if (missions.length === 0) return 'No mission matches. waymark mission list --status all shows all of them.'
  return blocks(
    missionTable(missions, page),
    cutNote(missions.length, numberAt(answer, 'total'), nextPage(answer)),
  )
}

/** Everything about one mission. */
export function missionPage(mission: Entry, page: Page): string {
  const tasks = entriesAt(mission, 'tasks')
  return blocks(
    `${page.ink('bold', textAt(mission, 'name'))}\n${pairs(headOf(mission, page), page)}`,
    section('Phases', phaseTable(entriesAt(mission, 'phase_summary'), page), page),
    section('Tasks', taskTable(tasks, page), page),
    cutNote(
      tasks.length,
      numberAt(mission, 'tasks_total'),
      'waymark context <mission> --include tasks shows all.',
    ),
    section('Runs', runLines(mission, page), page),
    section('Waiting for a person', holdList(entriesAt(mission, 'holds'), page), page),
    section('Decisions', decisionList(entriesAt(mission, 'decisions'), page), page),
    claims(mission, 'The one who completed it', page),
  )
}

function headOf(mission: Entry, page: Page): readonly (readonly [string, string])[] {
  const ended = textAt(mission, 'completed_at')
  return [
    ['id', textAt(mission, 'id')],
    ['objective', textAt(mission, 'objective')],
    ['description', textAt(mission, 'description')],
    ['scope', textAt(mission, 'scope')],
    ['constraints', textAt(mission, 'constraints')],
    ['profile', textAt(mission, 'profile').toLowerCase()],
    ['status', statusWord(textAt(mission, 'status'), page)],
    ['phase', `${numberAt(mission, 'current_phase')} of ${numberAt(mission, 'total_phases')}`],
    ['measured', `${counted(numberAt(mission, 'files_changed'), 'file')} changed`],
    ['began', age(textAt(mission, 'created_at'), page.now)],
    ['ended', ended === '' ? '' : age(ended, page.now)],
  ]
}

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

/** Missions, one a row: where each stands. */
export function missionTable(missions: readonly Entry[], page: Page): string {
  const columns = [
    { title: 'id' },
    { title: 'mission', shrinks: true },
    { title: 'status' },
    { title: 'phase' },
    { title: 'running', align: 'right' },
    { title: 'done', align: 'right' },
    { title: 'blockers', align: 'right' },
  ] as const
  const rows = missions.map((mission) => [
    textAt(mission, 'mission_id'),
    textAt(mission, 'name'),
    statusWord(textAt(mission, 'status'), page),
    `${numberAt(mission, 'current_phase')}/${numberAt(mission, 'total_phases')}`,
    textAt(mission, 'open_tasks'),
    textAt(mission, 'done_tasks'),
    blockers(numberAt(mission, 'open_blockers'), page),
  ])
  return table(columns, rows, page)
}

function blockers(count: number, { ink }: Page): string {
  return count === 0 ? '0' : ink('red', String(count))
}

function phaseTable(phases: readonly Entry[], page: Page): string {
  const columns = [
    { title: 'phase', align: 'right' },
    { title: 'name', shrinks: true },
    { title: 'status' },
    { title: 'tasks', align: 'right' },
    { title: 'took' },
  ] as const
  const rows = phases.map((phase) => [
    textAt(phase, 'phase_number'),
    textAt(phase, 'name'),
    statusWord(textAt(phase, 'status'), page),
    textAt(phase, 'tasks_count'),
    lasting(numberAt(phase, 'duration_seconds')),
  ])
  return table(columns, rows, page)
}

/** The runs that gate a mission, a line each, and what it was completed in spite of. */
function runLines(mission: Entry, { ink }: Page): string {
  return [
    ...entriesAt(mission, 'runs').map(
      (run) =>
        `${textAt(run, 'run_id')}  ${textAt(run, 'process_id')}  ${textAt(run, 'status')} in "${textAt(run, 'current_state')}"`,
    ),
    ...textsAt(mission, 'completed_despite').map((loss) => ink('red', `Completed although ${loss}.`)),
  ].join('\n')
}

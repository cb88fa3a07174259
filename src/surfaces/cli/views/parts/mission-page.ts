import { age } from '../../text/age.ts'
import { counted } from '../../text/count.ts'
import { type Entry, entriesAt, numberAt, textAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { claims } from './claims.ts'
import { holdList } from './hold-list.ts'
import { phaseTable } from './phase-table.ts'
import { runLines } from './run-lines.ts'
import { decisionList } from './said.ts'
import { blocks, cutNote, pairs, section } from './sections.ts'
import { statusWord } from './status-word.ts'
import { taskTable } from './task-table.ts'

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
    claims(mission, 'Whoever completed it', page),
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

import { age } from '../text/age.ts'
import { table } from '../text/table.ts'
import { type Entry, entriesAt, numberAt, textAt, textsAt } from './entry.ts'
import { quoted } from './parts/claims.ts'
import { nextPage } from './parts/next-page.ts'
import { blocks, cutNote } from './parts/sections.ts'
import { statusWord } from './parts/status-word.ts'
import type { Page, View } from './view.ts'

export const planTasks: View = (answer, page) => {
  const tasks = entriesAt(answer, 'tasks')
  if (tasks.length === 0)
    return 'There are no such tasks. waymark task add --title "<title>" --phase <phase> plans one.'
  return blocks(planTable(tasks, page), cutNote(tasks.length, numberAt(answer, 'total'), nextPage(answer)))
}

export const planPhases: View = (answer, page) => {
  const phases = entriesAt(answer, 'phases')
  if (phases.length === 0)
    return 'There are no phases yet. waymark phase add --id P1 --name "<name>" adds one.'
  const mission = missionColumn(phases)
  const columns = [{ title: 'id' }, { title: 'phase', shrinks: true }, { title: 'status' }, ...mission.head]
  const rows = phases.map((phase) => [
    textAt(phase, 'id'),
    textAt(phase, 'name'),
    statusWord(textAt(phase, 'status'), page),
    ...mission.cell(phase),
  ])
  return table(columns, rows, page)
}

export const planMilestones: View = (answer, page) => {
  const milestones = entriesAt(answer, 'milestones')
  if (milestones.length === 0) return 'There are no such milestones.'
  const columns = [
    { title: 'id' },
    { title: 'phase' },
    { title: 'milestone', shrinks: true },
    { title: 'criterion', shrinks: true },
    { title: 'reached' },
  ]
  const rows = milestones.map((milestone) => [
    textAt(milestone, 'id'),
    textAt(milestone, 'phase_id'),
    textAt(milestone, 'name'),
    textAt(milestone, 'criterion'),
    numberAt(milestone, 'reached') === 1 ? page.ink('green', 'yes') : 'no',
  ])
  return table(columns, rows, page)
}

export const planNotes: View = (answer, page) => {
  const notes = entriesAt(answer, 'notes')
  if (notes.length === 0) return 'There are no notes.'
  const lines = notes.map((note) => {
    const by = [textAt(note, 'role'), textAt(note, 'kind'), age(textAt(note, 'created_at'), page.now)]
    return `- ${quoted(textAt(note, 'content'), page)}  ${page.ink('dim', by.filter((part) => part !== '').join(', '))}`
  })
  return blocks(lines.join('\n'), cutNote(notes.length, numberAt(answer, 'total'), nextPage(answer)))
}

/** Only where an entry is of a mission. */
function missionColumn(entries: readonly Entry[]) {
  const isShown = entries.some((entry) => textAt(entry, 'mission_id') !== '')
  return {
    head: isShown ? [{ title: 'mission' }] : [],
    cell: (entry: Entry) => (isShown ? [textAt(entry, 'mission_id')] : []),
  }
}

function planTable(tasks: readonly Entry[], page: Page): string {
  const mission = missionColumn(tasks)
  const columns = [
    { title: 'id' },
    { title: 'task', shrinks: true },
    { title: 'status' },
    { title: 'phase' },
    { title: 'role' },
    { title: 'waits for' },
    ...mission.head,
  ]
  const rows = tasks.map((task) => [
    textAt(task, 'id'),
    textAt(task, 'title'),
    standing(task, page),
    textAt(task, 'phase_id'),
    textAt(task, 'role'),
    task['blocked'] === true ? textsAt(task, 'depends_on').join('\n') : '',
    ...mission.cell(task),
  ])
  return table(columns, rows, page)
}

function standing(task: Entry, page: Page): string {
  if (textAt(task, 'resolution') === 'dropped') return statusWord('dropped', page)
  const holder = textAt(task, 'claimed_by')
  const status = statusWord(textAt(task, 'status'), page)
  if (task['blocked'] === true && task['status'] !== 'done')
    return `${status}, ${page.ink('yellow', 'blocked')}`
  return holder === '' ? status : `${status} (${holder})`
}

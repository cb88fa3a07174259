import { counted } from '../text/count.ts'
import { type Entry, entriesAt, numberAt, textAt, textsAt } from './entry.ts'
import type { Page, View } from './view.ts'

/** The outline of a plan: phases, milestones, tasks; what is ready stands out, the critical path is marked. */
export const planShow: View = (answer, page) => {
  const phases = entriesAt(answer, 'phases')
  if (phases.length === 0)
    return 'There is no plan yet. waymark phase add begins one, waymark import reads one.'
  const summary = [
    counted(numberAt(answer, 'tasks'), 'task'),
    `${numberAt(answer, 'done')} done`,
    `${numberAt(answer, 'ready')} ready`,
    ...(numberAt(answer, 'dropped') > 0 ? [`${numberAt(answer, 'dropped')} dropped`] : []),
    `critical path of ${counted(textsAt(answer, 'critical_path').length, 'task')}`,
  ].join(', ')
  const legend = '✓ done  ● in progress  ○ ready  · waits  ✗ dropped  ! on the critical path'
  return [summary, page.ink('dim', legend), ...phases.map((phase) => phaseText(phase, page))].join('\n\n')
}

function phaseText(phase: Entry, page: Page): string {
  const name = textAt(phase, 'name') || 'Outside the phases'
  const id = textAt(phase, 'id')
  const counts = [textAt(phase, 'mission_name'), `${numberAt(phase, 'done')}/${numberAt(phase, 'total')}`]
    .filter(Boolean)
    .join('  ')
  const heading = `${page.ink('bold', name)}  ${page.ink('dim', id === '' ? counts : `${id}  ${counts}`)}`
  const milestones = entriesAt(phase, 'milestones').flatMap((milestone) => [
    `  ${milestone['reached'] === true ? page.ink('green', '◆') : '◇'} ${textAt(milestone, 'name') || textAt(milestone, 'id')}  ${page.ink('dim', textAt(milestone, 'id'))}`,
    ...entriesAt(milestone, 'tasks').flatMap((task) => taskLines(task, 2, page)),
  ])
  const tasks = entriesAt(phase, 'tasks').flatMap((task) => taskLines(task, 1, page))
  return [heading, ...milestones, ...tasks].join('\n')
}

function taskLines(task: Entry, depth: number, page: Page): readonly string[] {
  const waits = textsAt(task, 'waitsFor')
  const role = textAt(task, 'role')
  const notes = [
    textAt(task, 'id'),
    role,
    textAt(task, 'assignee') === '' ? '' : `for ${textAt(task, 'assignee')}`,
    waits.length === 0 ? '' : `waits for ${counted(waits.length, 'task')}`,
  ].filter(Boolean)
  const critical = task['critical'] === true ? page.ink('yellow', '!') : ' '
  const line = `${'  '.repeat(depth)}${marked(textAt(task, 'mark'), page)} ${critical} ${textAt(task, 'title')}`
  const after = notes.length === 0 ? '' : `  ${page.ink('dim', notes.join(', '))}`
  return [
    `${line}${after}`,
    ...entriesAt(task, 'subtasks').flatMap((subtask) => taskLines(subtask, depth + 1, page)),
  ]
}

function marked(mark: string, page: Page): string {
  switch (mark) {
    case 'done':
      return page.ink('green', '✓')
    case 'in_progress':
      return page.ink('cyan', '●')
    case 'dropped':
      return page.ink('dim', '✗')
    case 'ready':
      return page.ink('bold', '○')
    default:
      return page.ink('dim', '·')
  }
}

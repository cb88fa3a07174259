import { counted } from '../../../domain/text.ts'
import { blocks, cutNote, nextPage, pairs, statusWord } from './parts.ts'
import { quoted } from './records.ts'
import { table } from './table.ts'
import { age } from './text.ts'
import { type Entry, entriesAt, entryAt, numberAt, type Page, textAt, textsAt, type View } from './view.ts'

/** The outline of a plan: phases, milestones, tasks; what is ready stands out, the critical path is marked. */
export const planShow: View = (answer, page) => {
  const phases = entriesAt(answer, 'phases')
  if (phases.length === 0)
    return 'There is no plan yet. waymark phase add starts one, waymark import reads one.'
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

export const planTasks: View = (answer, page) => {
  const tasks = entriesAt(answer, 'tasks')
  if (tasks.length === 0)
    return 'No task matches. waymark task add --title "<title>" --phase <phase> plans one.'
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
  if (milestones.length === 0) return 'No milestone matches.'
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

/** One task of the plan. */
export const planTask: View = (task, page) => {
  const waits =
    task['blocked'] === true
      ? `${textsAt(task, 'depends_on').join(', ')} (open)`
      : textsAt(task, 'depends_on').join(', ')
  return `${page.ink('bold', textAt(task, 'title'))}\n${pairs(
    [
      ['id', textAt(task, 'id')],
      ['description', textAt(task, 'description')],
      ['status', statusWord(textAt(task, 'resolution') || textAt(task, 'status'), page)],
      ['held by', textAt(task, 'claimed_by')],
      ['phase', textAt(task, 'phase_id')],
      ['milestone', textAt(task, 'milestone_id')],
      ['role', textAt(task, 'role')],
      ['waits for', waits],
      ['planned', `${age(textAt(task, 'created_at'), page.now)}${by(task)}`],
    ],
    page,
  )}`
}

/** The next task, and whose it is now. */
export const nextTask: View = (answer, page) => {
  const task = entryAt(answer, 'task')
  if (!task) return textAt(answer, 'message') || 'Nothing is ready.'
  return blocks(planTask(task, page), claimText(entryAt(answer, 'claim'), page))
}

function claimText(claim: Entry | null, { ink }: Page): string {
  if (!claim) return ''
  const until = textAt(claim, 'expires_at').slice(11, 16)
  return `${ink('green', 'Claimed')} for ${textAt(claim, 'agent')} until ${until} UTC, with token ${textAt(claim, 'token')}.`
}

function by(task: Entry): string {
  const creator = textAt(task, 'creator')
  return creator === '' ? '' : ` by ${creator}`
}

import { needsYouText } from '../../inbox/domain/inbox-item.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, pairs, statusWord, warnings } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { formatAge, timeOfDay } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { quoteText } from '../../track/cli/records.ts'
import type { PlannedTaskEntry } from '../operations/plan-answer.ts'

/** The outline of a plan: phases, milestones and tasks, with ready tasks and the critical path highlighted. */
export const planShow: AnswerView<'plan_show'> = (answer, page) => {
  const { phases } = answer
  if (phases.length === 0)
    return 'There is no plan yet. Add a task: waymark task add "<title>". Or import a plan: waymark import <file>'
  const hasPath = answer.critical_path.length > 0
  const summary = [
    formatCount(answer.tasks, 'task'),
    `${answer.done} done${needsYouText(answer.done_waiting)}`,
    `${answer.ready} ready`,
    ...(answer.dropped > 0 ? [`${answer.dropped} dropped`] : []),
    ...(hasPath ? [`critical path of ${answer.critical_path.length} tasks`] : []),
  ].join(', ')
  const legend = `✓ done  ? needs review  ● in progress  ○ ready  · blocked  ✗ dropped${hasPath ? '  ! critical path' : ''}`
  const folded = phases.find((phase) => phase.folded)
  const unfold = folded
    ? [`Show the tasks of a phase: ${shellCommand`waymark plan show --phase ${folded.id ?? 'none'}`}`]
    : []
  const titles = new Map(phases.flatMap(tasksOfPhase).map(({ id, title }) => [id, title]))
  const outlines = phases.map((phase) => phaseText(phase, titles, page))
  return [summary, page.ink('dim', legend), ...outlines, ...unfold].join('\n\n')
}

type OutlinePhaseRow = OutputOf<'plan_show'>['phases'][number]
type OutlineTaskRow = OutlinePhaseRow['tasks'][number]

/** All tasks of a phase, with their subtasks. */
function tasksOfPhase({ milestones, tasks }: OutlinePhaseRow): readonly OutlineTaskRow[] {
  const withSubtasks = (task: OutlineTaskRow): readonly OutlineTaskRow[] => [
    task,
    ...task.subtasks.flatMap(withSubtasks),
  ]
  return [...milestones.flatMap((milestone) => milestone.tasks), ...tasks].flatMap(withSubtasks)
}

/** The titles of tasks, by id. */
type Titles = ReadonlyMap<string, string>

function phaseText(phase: OutlinePhaseRow, titles: Titles, page: RenderContext): string {
  const { ink } = page
  const done = `${phase.done}/${phase.total} done${needsYouText(phase.done_waiting)}`
  const notes = [done, phase.mission_name, phase.id].filter((note) => note !== null)
  const heading = `${ink('bold', phase.name ?? 'Outside the phases')}  ${ink('dim', notes.join('  '))}`
  const milestones = phase.milestones.flatMap(({ id, name, reached, tasks }) => [
    `  ${reached ? ink('green', '◆') : '◇'} ${name ?? id}  ${ink('dim', id)}`,
    ...tasks.flatMap((task) => taskLines(task, { depth: 2, titles }, page)),
  ])
  return [
    heading,
    ...milestones,
    ...phase.tasks.flatMap((task) => taskLines(task, { depth: 1, titles }, page)),
  ].join('\n')
}

function taskLines(
  task: OutlineTaskRow,
  { depth, titles }: { readonly depth: number; readonly titles: Titles },
  page: RenderContext,
): readonly string[] {
  const { id, role, assignee, mark, title, waits_for: waits } = task
  const notes = [
    id,
    role ?? '',
    assignee === undefined ? '' : `for ${assignee}`,
    waitsText(waits, titles),
    task.needs_review ? 'needs review' : '',
    task.undone === undefined ? '' : `undone by ${task.undone.author}`,
  ].filter((note) => note !== '')
  const critical = task.critical ? page.ink('yellow', '!') : ' '
  const line = `${'  '.repeat(depth)}${task.needs_review ? page.ink('yellow', '?') : taskMarkText(mark, page)} ${critical} ${title}`
  return [
    `${line}  ${page.ink('dim', notes.join(', '))}`,
    ...task.subtasks.flatMap((subtask) => taskLines(subtask, { depth: depth + 1, titles }, page)),
  ]
}

const maxWaits = 2

function waitsText(waits: readonly string[], titles: Titles): string {
  if (waits.length === 0) return ''
  const named = waits.slice(0, maxWaits).map((id) => titles.get(id) ?? id)
  const more = waits.length > maxWaits ? ` and ${waits.length - maxWaits} more` : ''
  return `waits for: ${named.join('; ')}${more}`
}

function taskMarkText(mark: OutlineTaskRow['mark'], page: RenderContext): string {
  switch (mark) {
    case 'done':
      return page.ink('green', '✓')
    case 'in_progress':
      return page.ink('cyan', '●')
    case 'dropped':
      return page.ink('dim', '✗')
    case 'ready':
      return page.ink('bold', '○')
    case 'blocked':
      return page.ink('dim', '·')
  }
}

export const planTasks: AnswerView<'taskman_task_list'> = (answer, page) => {
  const { tasks, in_ended_missions: ended = 0 } = answer
  return blocks(
    tasks.length === 0 ? 'No task matches. Add one: waymark task add "<title>"' : planTable(tasks, page),
    ended === 0
      ? ''
      : page.ink(
          'dim',
          `${formatCount(ended, 'task')} of ended missions: waymark task list --mission <mission>`,
        ),
  )
}

export const planPhases: AnswerView<'taskman_phase_list'> = (answer, page) => {
  const { phases } = answer
  if (phases.length === 0) return 'There are no phases yet. Add one: waymark phase add "<name>"'
  const columns = [
    { title: 'phase', shrinks: true },
    { title: 'status' },
    { title: 'mission' },
    { title: 'id' },
  ]
  const rows = phases.map((phase) => [
    phase.name,
    statusWord(phase.status, page),
    missionTitle(phase, page),
    page.ink('dim', phase.id),
  ])
  return table(columns, rows, page)
}

export const planMilestones: AnswerView<'taskman_milestone_list'> = (answer, page) => {
  const { milestones } = answer
  if (milestones.length === 0) return 'No milestone matches.'
  const columns = [
    { title: 'phase' },
    { title: 'milestone', shrinks: true },
    { title: 'criterion', shrinks: true },
    { title: 'reached' },
    { title: 'id' },
  ]
  const rows = milestones.map((milestone) => [
    milestone.phase_id,
    milestone.name ?? '',
    milestone.criterion ?? '',
    milestone.reached === 1 ? page.ink('green', 'yes') : 'no',
    page.ink('dim', milestone.id),
  ])
  return table(columns, rows, page)
}

export const planNotes: AnswerView<'taskman_task_note_list'> = (answer, page) => {
  const { notes } = answer
  return notes.length === 0 ? 'There are no notes.' : noteLines(notes, page)
}

export function noteLines(notes: OutputOf<'taskman_task_note_list'>['notes'], page: RenderContext): string {
  const lines = notes.map((note) => {
    const details = [note.role ?? '', note.kind ?? '', formatAge(note.created_at, page.now)]
    return `- ${quoteText(note.content, page)}  ${page.ink('dim', details.filter((part) => part !== '').join(', '))}`
  })
  return lines.join('\n')
}

function planTable(tasks: readonly PlannedTaskEntry[], page: RenderContext): string {
  const columns = [
    { title: 'task', shrinks: true },
    { title: 'status' },
    { title: 'phase' },
    { title: 'role' },
    { title: 'waits for', shrinks: true },
    { title: 'mission' },
    { title: 'id' },
  ]
  const titles = new Map(tasks.map(({ id, title }) => [id, title]))
  const rows = tasks.map((task) => [
    task.title,
    readinessText(task, page),
    phaseName(task, page),
    task.role ?? '',
    task.blocked ? task.depends_on.map((id) => titles.get(id) ?? id).join('\n') : '',
    missionTitle(task, page),
    page.ink('dim', task.id),
  ])
  return table(columns, rows, page)
}

function readinessText(task: PlannedTaskEntry, page: RenderContext): string {
  if (task.resolution === 'dropped') return statusWord('dropped', page)
  const status = statusWord(task.status, page)
  if (task.blocked && task.status !== 'done') return `${status}, ${page.ink('yellow', 'blocked')}`
  return task.claimed_by === null ? status : `${status} (${task.claimed_by})`
}

/** One task of the plan. */
export function planTask(task: OutputOf<'taskman_task_dep_add'>, page: RenderContext): string {
  const { depends_on: waits = [], created_at: created = '', creator } = task
  return `${page.ink('bold', task.title ?? '')}\n${pairs(
    [
      ['id', task.id],
      ['description', task.description === task.title ? '' : (task.description ?? '')],
      ['status', statusWord(task.resolution ?? task.status ?? '', page)],
      ['for', task.assignee ?? ''],
      ['claimed by', task.claimed_by ?? ''],
      ['mission', task.mission_id == null ? '' : titledId(task.mission_id, page)],
      ['phase', phaseName(task, page)],
      ['scope', (task.areas ?? []).join(', ')],
      ['milestone', task.milestone_id ?? ''],
      ['role', task.role ?? ''],
      ...promiseRows(task.done_when),
      [task.blocked ? 'waits for' : 'depends on', waits.map((id) => titledId(id, page)).join('\n')],
      ['created', `${formatAge(created, page.now)}${creator ? ` by ${creator}` : ''}`],
    ],
    page,
  )}`
}

function phaseName(
  { phase_id: id }: Pick<OutputOf<'taskman_task_dep_add'>, 'phase_id'>,
  page: RenderContext,
): string {
  return id == null ? '' : (page.titles?.[id] ?? id)
}

function missionTitle(
  { mission_id: id }: { readonly mission_id: string | null },
  { titles }: RenderContext,
): string {
  return id === null ? '' : (titles?.[id] ?? id)
}

export function titledId(id: string, { titles, ink }: RenderContext): string {
  const title = titles?.[id]
  return title === undefined ? id : `${title}  ${ink('dim', id)}`
}

/** Rows for what a task promises: criteria, checks, changes and files to keep. */
export function promiseRows(
  doneWhen: PlannedTaskEntry['done_when'] | null,
): readonly (readonly [string, string])[] {
  if (!doneWhen) return []
  const { criteria = [], check = [], changes, keeps = [], removed = [], left_out = [] } = doneWhen
  const checks = check.map((entry) => (typeof entry === 'string' ? entry : checkText(entry)))
  return [
    ['done when', criteria.join('; ')],
    ['checks', checks.join('; ')],
    ['changes', changes?.length === 0 ? 'none expected' : (changes ?? []).join(', ')],
    ['keeps', keeps.join(', ')],
    ['left out', left_out.map(({ list, text }) => `${list}: ${text} (by an agent)`).join('; ')],
    ['removed', removed.map(({ list, text, author }) => `${list}: ${text} (by ${author})`).join('; ')],
  ]
}

type CheckEntry = Exclude<NonNullable<NonNullable<PlannedTaskEntry['done_when']>['check']>[number], string>

function checkText({ run, pinned = [], timeout }: CheckEntry): string {
  const notes = [
    ...(pinned.length > 0 ? [`pinned: ${pinned.join(', ')}`] : []),
    ...(timeout === undefined ? [] : [`at most ${timeout}`]),
  ]
  return notes.length === 0 ? run : `${run} (${notes.join('; ')})`
}

/** The next task, and its new holder. */
export const nextTask: AnswerView<'taskman_task_next'> = (answer, page) => {
  const { task, claim, message = 'No task is ready.' } = answer
  if (!task) return message
  return blocks(
    planTask(task, page),
    warnings(answer.message === undefined ? [] : [answer.message], page),
    claimText(task.id, claim, page),
  )
}

function claimText(
  id: string,
  claim: OutputOf<'taskman_task_next'>['claim'],
  { ink }: RenderContext,
): string {
  if (!claim) return ''
  return [
    `${ink('green', 'Claimed')} for ${claim.agent} until ${timeOfDay(claim.expires_at)}, with token ${claim.token}.`,
    `Start it: waymark task start ${id} --claim-token ${claim.token}`,
  ].join('\n')
}

import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, bullets, indentText, statusWord, warnings } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import type { AnswerView, CallView, RenderContext } from '../../surfaces/cli/render/view.ts'

export const phaseAdded: AnswerView<'taskman_phase_add'> = ({ id, name }, { ink }) =>
  `${ink('green', 'Added')} phase ${ink('bold', `"${name ?? id}"`)} ${ink('dim', id)}. Add a task: waymark task add "<title>" --phase ${id}`

export const phaseEdited: CallView<'taskman_phase_edit'> = ({ id, name, status }, page, input) =>
  isUnchanged(input)
    ? ''
    : `Phase ${page.ink('bold', `"${name ?? id}"`)} ${page.ink('dim', id)}${status === undefined ? '' : `: ${statusWord(status, page)}`}.`

export const taskAdded: AnswerView<'taskman_task_add'> = (answer, { ink, openMission }) => {
  const { id, title, phase_id: phase } = answer
  const added = `${ink('green', 'Added')} ${ink('bold', `"${title ?? id}"`)} ${ink('dim', id)}`
  const toPhase = phase == null || phase === 'plan' ? '' : ` to phase ${phase}`
  const start = `Start it: waymark task start ${id}`
  if (openMission === undefined) return `${added}${toPhase}. ${start}`
  const { id: mission, name, phaseId } = openMission
  return [
    `${added} to ${toPhase === '' ? '' : `phase ${phase} of `}the project’s plan, outside the open mission "${name}".`,
    phaseId === null
      ? `Put it into the mission: waymark phase add "<name>" --mission ${mission}, then waymark task edit ${id} --phase <phase>`
      : `Put it into the mission: waymark task edit ${id} --phase ${phaseId}`,
    start,
  ].join('\n')
}

export const milestoneAdded: AnswerView<'taskman_milestone_add'> = (milestone, { ink }) =>
  `${ink('green', 'Added')} ${milestoneText(milestone, ink)}.`

export const milestoneEdited: CallView<'taskman_milestone_edit'> = (milestone, { ink }, input) => {
  const { reached } = milestone
  const state = reached === undefined ? '' : `: ${reached === 1 ? 'reached' : 'not reached yet'}`
  return isUnchanged(input) ? '' : `${ink('green', 'Changed')} ${milestoneText(milestone, ink)}${state}.`
}

/** An edit that names nothing to change prints nothing, as taskman's does. */
function isUnchanged(input: object): boolean {
  return Object.keys(input).every((field) => field === 'id')
}

function milestoneText(
  { id, name, phase_id: phase }: OutputOf<'taskman_milestone_add'>,
  ink: RenderContext['ink'],
): string {
  return `milestone ${ink('bold', `"${name ?? id}"`)} ${ink('dim', id)}${phase === undefined ? '' : ` of phase ${phase}`}`
}

export const noteAdded: AnswerView<'taskman_task_note_add'> = ({ task_id: task }, { ink }) =>
  `${ink('green', 'Added')} a note${task === undefined ? '' : ` to ${ink('dim', task)}`}.`

export const tasksPlanned: AnswerView<'plan_tasks'> = ({ tasks, phases = [] }, page) => {
  const rows = tasks.map(({ key, id, ready }) => [key, ready ? 'ready' : 'blocked', page.ink('dim', id)])
  const added = [
    formatCount(tasks.length, 'task'),
    ...(phases.length === 0 ? [] : [formatCount(phases.length, 'phase')]),
  ]
  return blocks(
    `${page.ink('green', 'Added')} ${added.join(' and ')}.`,
    table([{ title: 'task', shrinks: true }, { title: 'status' }, { title: 'id' }], rows, page),
  )
}

export const planMoved: AnswerView<'plan_move'> = ({ id, moved }, { ink }) =>
  moved === 0 ? `${id} is already there. Nothing changed.` : `${ink('green', 'Moved')} ${id}.`

export const taskDropped: AnswerView<'task_drop'> = ({ id, title }, { ink }) =>
  `${ink('green', 'Dropped')} ${ink('bold', `"${title ?? id}"`)} ${ink('dim', id)}.`

export const roleAdded: AnswerView<'role_add'> = ({ role, roles }, { ink }) =>
  `${ink('green', 'Added')} the role ${role}. The roles are ${roles.join(', ')}.`

export const planImported: CallView<'plan_import'> = (answer, page, { mission }) => {
  const { added, existing = 0, events, notices, dry_run: isDry = false } = answer
  const parts =
    added === undefined
      ? [formatCount(events ?? 0, 'log entry', 'log entries')]
      : [
          ...(added.phases === 0 ? [] : [formatCount(added.phases, 'phase')]),
          ...(added.milestones === 0 ? [] : [formatCount(added.milestones, 'milestone')]),
          formatCount(added.tasks, 'task'),
        ]
  const into =
    added === undefined
      ? ''
      : ` into ${mission === undefined ? 'the project’s plan' : 'the plan of the mission'}`
  const kept = existing === 0 ? '' : ` ${formatCount(existing, 'task')} already existed.`
  return blocks(
    `${isDry ? page.ink('yellow', 'Would import') : page.ink('green', 'Imported')} ${parts.join(', ')}${into}.${kept}`,
    warnings(notices, page),
    (added?.phases ?? 0) > 1
      ? 'Phases do not order tasks. To let one wait: waymark task dep add <task> <task before it>'
      : '',
    isDry ? '' : 'Show it: waymark plan show',
  )
}

export const planNotesById: AnswerView<'taskman_task_note_list_by_ids'> = ({ notes }) =>
  notes.length === 0
    ? 'There are no notes.'
    : indentText(bullets(notes.map(({ task_id, content }) => `${task_id}  ${content}`)))

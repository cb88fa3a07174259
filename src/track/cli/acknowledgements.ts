import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import {
  blocks,
  bullets,
  indentText,
  section,
  statusWord,
  warnings,
} from '../../surfaces/cli/render/parts.ts'
import { formatDuration } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, CallView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { leftText } from './mission.ts'
import { claims } from './records.ts'

export const missionStarted: CallView<'start_mission'> = (answer, page, { name }) =>
  [
    `${page.ink('green', 'Started')} mission ${page.ink('bold', `"${name}"`)} ${page.ink('dim', answer.mission_id)}.`,
    answer.run === undefined
      ? ''
      : `Run ${answer.run.run_id} gates it: it is in "${answer.run.current_state}". waymark run show ${answer.run.run_id}`,
    `Start a task in it: waymark task start "<title>" --mission-id ${answer.mission_id}`,
    `Or plan one: waymark task add "<title>" --mission ${answer.mission_id}`,
    warnings(answer.warnings ?? [], page),
  ]
    .filter((line) => line !== '')
    .join('\n')

export const workflowStarted: CallView<'start_workflow'> = (answer, page, { name }) =>
  blocks(
    `${page.ink('green', 'Started')} workflow ${page.ink('bold', `"${name}"`)} ${page.ink('dim', answer.workflow_id)}.`,
    section(
      'Planned',
      indentText(
        bullets(answer.planned_tasks.map(({ task_id, goal }) => `${goal}  ${page.ink('dim', task_id)}`)),
      ),
      page,
    ),
  )

export function missionCompleted(
  answer: OutputOf<'complete_mission' | 'complete_workflow'>,
  page: RenderContext,
): string {
  const { metrics, already_completed: isRepeated = false } = answer
  const left = leftText(answer, page)
  const id = page.ink('dim', answer.workflow_id ?? answer.mission_id)
  return blocks(
    `${page.ink('green', 'Ended')} ${id}: ${statusWord(answer.status, page)}${left === '' ? '' : `, with ${left}`}.${isRepeated ? ' It had ended before. Nothing changed.' : ''}`,
    `${metrics.total_phases === 0 ? '' : `${formatCount(metrics.total_phases, 'phase')}, `}${formatCount(metrics.total_tasks, 'task')}, ${formatCount(metrics.files_changed, 'file')} changed, in ${formatDuration(metrics.total_duration_seconds)}.`,
    claims(answer, 'The one who completed it', page),
    section(
      'Needs a person',
      indentText(answer.waits_for.map(({ item_id, question }) => `${item_id}  ${question}`).join('\n')),
      page,
    ),
    warnings(answer.warnings, page),
  )
}

export const phaseStarted: AnswerView<'start_phase'> = (answer, page) =>
  [
    answer.already_exists
      ? `Phase ${answer.number} "${answer.name}" was already started. Nothing changed.`
      : `${page.ink('green', 'Started')} phase ${answer.number} ${page.ink('bold', `"${answer.name}"`)} ${page.ink('dim', answer.phase_id)}.`,
    warnings(answer.warnings, page),
  ]
    .filter((line) => line !== '')
    .join('\n')

export const phaseCompleted: AnswerView<'complete_phase'> = (answer, page) =>
  [
    answer.already_completed
      ? `Phase "${answer.name}" was already completed. Nothing changed.`
      : `${page.ink('green', 'Completed')} phase ${page.ink('bold', `"${answer.name}"`)} after ${formatDuration(Math.round(answer.duration_ms / 1000))}, with ${formatCount(answer.tasks.total, 'task')}.`,
    warnings(answer.warnings, page),
  ]
    .filter((line) => line !== '')
    .join('\n')

export const decisionLogged: CallView<'log_decision'> = ({ decision_id }, { ink }, { chosen }) =>
  `${ink('green', 'Logged')} the decision for "${chosen}" ${ink('dim', decision_id)}.`

export const issueLogged: AnswerView<'log_issue'> = ({ issue_id, blocker }, { ink }) =>
  `${ink('green', 'Logged')} the issue ${ink('dim', issue_id)}.${blocker ? ' A person must answer it: waymark inbox' : ''}`

export const progressLogged: CallView<'log_milestone'> = ({ milestone_id }, { ink }, { progress }) =>
  `${ink('green', 'Logged')} the progress${progress === undefined ? '' : `, ${String(progress)} %`} ${ink('dim', milestone_id)}.`

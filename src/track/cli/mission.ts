import { inboxList } from '../../inbox/cli/inbox.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { taskTable } from '../../plan/cli/task.ts'
import { blocks, cutNote, pairs, section, statusWord, warnings } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { formatAge, formatDuration } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, CallView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { landedWords } from '../domain/landed.ts'
import { leftWorkText } from '../domain/mission.ts'
import type { MissionEntry, PhaseSummary } from '../operations/mission-answer.ts'
import { landedCounts } from './landed.ts'
import { claims, decisionList, issueList, progressList } from './records.ts'
import { lossLines } from './restore.ts'

export const listMissions: CallView<'list_missions'> = (answer, page, { status, search, cursor }) => {
  const { missions } = answer
  const ended = (status ?? 'open') === 'open' && !search && !cursor ? (page.endedMissions ?? 0) : 0
  const start = 'Start one: waymark mission start "<name>" --objective "<objective>"'
  if (missions.length === 0)
    return status === 'all'
      ? `There is no mission yet. ${start}`
      : `No mission matches. All of them: waymark mission list --status all\n${start}`
  return blocks(
    missionTable(missions, page),
    ended === 0
      ? ''
      : `Not listed: ${formatCount(ended, 'ended mission')}. To show ${ended === 1 ? 'it' : 'them'}: waymark mission list --status all`,
  )
}

type MissionAnswer = Exclude<OutputOf<'show'>, { readonly kind: 'task' | 'run' }>

/** Everything about one mission. */
export function missionPage(mission: MissionAnswer, page: RenderContext): string {
  const { tasks } = mission
  return blocks(
    `${page.ink('bold', mission.name)}\n${pairs(headOf(mission, page), page)}`,
    section('Phases', phaseTable(mission.phase_summary, page), page),
    // The newest first would turn the plan around.
    section('Tasks', taskTable(tasks.toReversed(), page), page),
    cutNote(tasks.length, mission.tasks_total, 'waymark context <mission> --include tasks shows all.'),
    section('Runs', runLines(mission, page), page),
    section('Needs a person', inboxList(mission.items, page), page),
    section('Decisions', decisionList(mission.decisions, page), page),
    claims(
      mission,
      `The one who completed it${mission.completed_at === null ? ' before it was opened again' : ''}`,
      page,
    ),
  )
}

function headOf(mission: MissionAnswer, page: RenderContext): readonly (readonly [string, string])[] {
  return [
    ['id', mission.id],
    ['objective', mission.objective ?? ''],
    ['description', mission.description ?? ''],
    ['scope', mission.scope ?? ''],
    ['constraints', mission.constraints ?? ''],
    ['profile', mission.profile === 'STANDARD' ? '' : (mission.profile?.toLowerCase() ?? '')],
    ['status', statusWord(mission.status, page)],
    ['left', leftText(mission, page)],
    ['phase', phaseOf(mission, ' of ')],
    ['measured', `${formatCount(mission.files_changed, 'file')} changed by attempts in this mission`],
    ['began', formatAge(mission.created_at, page.now)],
    ['ended', mission.completed_at === null ? '' : formatAge(mission.completed_at, page.now)],
    ['ended by', mission.completed_by ?? ''],
  ]
}

export const getContext: AnswerView<'get_context'> = (answer, page) => {
  const part = <Entry>(
    title: string,
    {
      entries = [],
      total = 0,
    }: { readonly entries?: readonly Entry[] | undefined; readonly total?: number | undefined },
    list: (entries: readonly Entry[], page: RenderContext) => string,
  ) =>
    entries.length === 0
      ? ''
      : blocks(
          section(title, list(entries, page), page),
          cutNote(entries.length, total, 'the next page has more.'),
        )
  return blocks(
    contextHead(answer, page),
    section('Runs', runLines(answer, page), page),
    warnings(lossLines(answer), page),
    section('Landed', landedLines(answer.landed), page),
    section('Phases', phaseTable(answer.phase_summary ?? [], page), page),
    part('Tasks', { entries: answer.tasks, total: answer.tasks_total }, taskTable),
    part('Blockers', { entries: answer.blockers, total: answer.blockers_total }, issueList),
    section('Answered', issueList(answer.answered_blockers ?? [], page), page),
    part('Decisions', { entries: answer.decisions, total: answer.decisions_total }, decisionList),
    part('Progress', { entries: answer.milestones, total: answer.milestones_total }, progressList),
  )
}

function landedLines(landed: OutputOf<'get_context'>['landed']): string {
  if (landed === undefined) return ''
  const gone = landed.gone.map(({ name, is, task_id }) => `${landedWords[is]}: "${name}" ${task_id}`)
  return [`${landedCounts(landed.counts).join(', ')}.`, ...gone].join('\n')
}

function contextHead(answer: OutputOf<'get_context'>, page: RenderContext): string {
  const phase = phaseOf(answer, ' of ')
  const rows = [
    ['id', answer.mission_id],
    ['objective', answer.objective ?? ''],
    ['description', answer.description ?? ''],
    ['scope', answer.scope ?? ''],
    ['constraints', answer.constraints ?? ''],
    ['status', statusWord(answer.mission_status, page)],
    ['left', leftText(answer, page)],
    ['phase', phase && `${phase} expected`],
  ] as const
  return `${page.ink('bold', answer.mission_name)}\n${pairs(rows, page)}`
}

export function leftText({ left }: Pick<MissionEntry, 'left'>, { ink }: RenderContext): string {
  return left === undefined ? '' : ink('yellow', leftWorkText(left))
}

/** Nothing, if there is no phase and nobody announced one. */
function phaseOf(
  { current_phase: phase, total_phases: phases }: Pick<MissionAnswer, 'current_phase' | 'total_phases'>,
  between: string,
): string {
  return phases === 0 ? '' : `${Math.min(phase, phases)}${between}${phases}`
}

type MissionListRow = Omit<MissionEntry, 'kind' | 'objective' | 'created_at' | 'completed_at'> & {
  readonly gates?: OutputOf<'status'>['missions'][number]['gates']
}

/** A table of missions with their progress. */
export function missionTable(missions: readonly MissionListRow[], page: RenderContext): string {
  const columns = [
    { title: 'mission', shrinks: true },
    { title: 'status' },
    { title: 'phase' },
    { title: 'gate' },
    { title: 'running', align: 'right' },
    { title: 'to do', align: 'right' },
    { title: 'done', align: 'right' },
    { title: 'inbox', align: 'right' },
    { title: 'left', shrinks: true },
    { title: 'id' },
  ] as const
  const rows = missions.map((mission) => [
    mission.name,
    statusWord(missionStatus(mission), page),
    phaseOf(mission, '/'),
    (mission.gates ?? []).map(({ process_name, state }) => `${process_name}: ${state}`).join('\n'),
    String(mission.open_tasks),
    String(mission.to_do_tasks),
    String(mission.done_tasks),
    needsYou(mission, page),
    leftText(mission, page),
    page.ink('dim', mission.mission_id),
  ])
  return table(columns, rows, page)
}

/** A mission where a person is awaited and no agent works, whatever they are awaited for. */
function missionStatus(mission: MissionListRow): string {
  const isWaiting = mission.open_tasks === 0 && mission.open_items > 0
  return isWaiting && mission.status === 'IN_PROGRESS' ? 'BLOCKED' : mission.status
}

function needsYou({ open_items }: MissionListRow, { ink }: RenderContext): string {
  return open_items === 0 ? '0' : ink('red', String(open_items))
}

function phaseTable(phases: readonly PhaseSummary[], page: RenderContext): string {
  const columns = [
    { title: 'phase', align: 'right' },
    { title: 'name', shrinks: true },
    { title: 'status' },
    { title: 'tasks', align: 'right' },
    { title: 'took' },
  ] as const
  const rows = phases.map((phase) => [
    String(phase.phase_number ?? ''),
    phase.name,
    statusWord(phase.status, page),
    String(phase.tasks_count),
    phase.status === 'PENDING' ? '' : formatDuration(phase.duration_seconds),
  ])
  return table(columns, rows, page)
}

/** The runs that gate a mission, a line each, and the failed runs of a completed one. */
function runLines(
  mission: Pick<OutputOf<'get_context'>, 'runs' | 'completed_despite'>,
  page: RenderContext,
): string {
  return [
    ...(mission.runs ?? []).map(
      (run) =>
        `${run.process_id}  ${statusWord(run.status, page)} in "${run.current_state}"  ${page.ink('dim', run.run_id)}`,
    ),
    ...(mission.completed_despite ?? []).map((loss) => page.ink('red', `Completed although ${loss}.`)),
  ].join('\n')
}

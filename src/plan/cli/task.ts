import { gateSteps } from '../../gate/cli/run.ts'
import { inboxList, measuredFiles } from '../../inbox/cli/inbox.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import {
  blocks,
  cutNote,
  indentText,
  pairs,
  section,
  statusWord,
  warnings,
} from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { formatAge, formatDuration, withPerson } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import {
  changedFiles,
  countAllKinds,
  countsInWords,
  ignoredFiles,
  scopeText,
  sharedTreeText,
} from '../../track/cli/changes.ts'
import { claims, decisionList, issueList, progressList, quoteText } from '../../track/cli/records.ts'
import { lossLines } from '../../track/cli/restore.ts'
import { deniedLine, nextStepLines, verdictCell, verdictText } from '../../track/cli/verdict.ts'
import { landingWords } from '../../track/domain/landed.ts'
import type { TaskEntry } from '../../track/operations/mission-answer.ts'
import { noteLines, promiseRows, titledId } from './plan.ts'

export const startTask: AnswerView<'start_task'> = (answer, page) => {
  const areas = answer.areas.map((area) => `${area.area} (${formatCount(area.files, 'file')})`)
  const lines = [
    `${page.ink('green', answer.continued ? 'Continued' : 'Started')} ${page.ink('bold', `"${answer.task_name}"`)}.`,
    pairs(
      [
        ['task', answer.task_id],
        ['attempt', answer.attempt_id],
        ['phase', String(answer.phase_number ?? '')],
        ['snapshot', `${answer.snapshot_type} ${answer.snapshot_id.slice(0, 12)}`],
        ['scope', areas.join(', ')],
        ['constraints', answer.constraints ?? ''],
      ],
      page,
    ),
    warnings([...sentBackTexts(answer), ...lossLines(answer), ...answer.warnings], page),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

/** `Sent back by Tess: Use whole cents.` and the open comments, with the command that answers one. */
function sentBackTexts({
  sent_back: sentBack,
  review_comments: comments = [],
  review_comments_total: total = 0,
}: OutputOf<'start_task'>): readonly string[] {
  const open = comments.filter(({ status }) => status === 'open')
  const [first] = open
  return [
    ...(sentBack === undefined
      ? []
      : [`Sent back by ${sentBack.author}: ${sentBack.text ?? 'with comments'}`]),
    ...open.map(({ comment_id: id, author, kind, path, line, text }) => {
      const place = path === undefined ? '' : ` on ${path}${line === undefined ? '' : `:${line}`}`
      return `${id}: ${kind} of ${author}${place}: ${text}`
    }),
    ...(first === undefined
      ? []
      : [
          `Answer each comment: waymark review reply ${first.comment_id} "<text>"${total > comments.length ? `. ${total - comments.length} more: waymark review comments` : ''}`,
        ]),
  ]
}

export const completeTask: AnswerView<'complete_task'> = (answer, page) => {
  if (answer.corrected) return correctionAnswer(answer, page)
  const took = formatDuration(answer.duration_seconds)
  const repeated = answer.already_completed ? ' It was already completed. Nothing changed.' : ''
  const phase = answer.phase_status && statusWord(answer.phase_status, page)
  return blocks(
    `${completionHeading(answer, page)} after ${took}.${repeated}`,
    scopeText(answer, page, { counts: answer.counts, listed: answer.details }),
    answer.measurement === 'unknown'
      ? ''
      : section(
          `Measured: ${countsInWords(answer.counts)}`,
          indentText(changedFiles(answer.details, page)),
          page,
        ),
    cutNote(
      answer.details.length,
      countAllKinds(answer.counts),
      `waymark changes ${answer.task_id} lists all.`,
    ),
    sharedTreeText(answer, page),
    section('Files that git ignores', indentText(ignoredFiles(answer.ignored, answer.ignored_total)), page),
    section('Verdict', indentText(completionVerdict(answer, page)), page),
    section(
      answer.completed_at === null ? 'Would need a person' : 'Needs a person',
      indentText(openQuestionsText(answer, page)),
      page,
    ),
    answer.status === 'failed' && answer.completed_at !== null
      ? `It is to do again: waymark task start ${answer.task_id}`
      : '',
    answer.review === undefined ? '' : commentCountsText(answer.review),
    phase === undefined || answer.phase_status !== 'completed'
      ? ''
      : `Phase ${phaseLabel(answer)} is ${phase}.`,
    section('Next', indentText(page.mission === undefined ? '' : gateSteps(page.mission).join('\n')), page),
  )
}

function completionVerdict(
  { verdict, waits_for: items = [], task_id: id }: OutputOf<'complete_task'>,
  page: RenderContext,
) {
  if (verdict === undefined) return ''
  const isUnchecked = verdict.reasons.some(({ rule }) => rule === 'no_check')
  return [
    verdictText(verdict, page, reviewCommand(id, items)),
    ...(isUnchecked ? [page.ink('dim', checkEveryTask)] : []),
  ].join('\n')
}

const checkEveryTask = `To check every task: waymark setting set done_when '{"check": ["<command>"]}'`

/** The command that shows and answers an open verdict. */
function reviewCommand(taskId: string, items: readonly { readonly kind: string }[]): string | null {
  return items.some(({ kind }) => kind === 'verdict') ? `waymark review ${taskId}` : null
}

/** Records of a preview have no id yet. */
function openQuestionsText(
  { waits_for: waitsFor = [], verdict }: OutputOf<'complete_task'>,
  page: RenderContext,
): string {
  return waitsFor
    .map(({ item_id: id, kind, question }) => {
      const words = kind === 'verdict' && verdict !== undefined ? `the work is ${verdict.is}` : question
      return `${id === null ? '' : `${page.ink('dim', id)}  `}${kind.replace(/_/g, ' ')}: ${words}`
    })
    .join('\n')
}

function commentCountsText(met: NonNullable<OutputOf<'complete_task'>['review']>): string {
  const standings = (['done', 'answered', 'changed', 'open'] as const).filter((name) => met[name].length > 0)
  const counts = standings.map((name) => `${met[name].length} ${name}`)
  return `Review comments: ${counts.join(', ')}.`
}

/** `1 "Build"`, as a mission counts its phases. */
function phaseLabel({
  phase_id: id,
  phase_number: number,
  phase_name: name,
}: OutputOf<'complete_task'>): string {
  return [number ?? (name === undefined ? id : null), name && `"${name}"`].filter(Boolean).join(' ')
}

/** A preview ends nothing. */
function completionHeading(answer: OutputOf<'complete_task'>, { ink }: RenderContext): string {
  const task = taskTitle(answer, ink)
  if (answer.completed === false) {
    const running = (answer.running_checks ?? []).map(({ command }) => `"${command}"`).join(', ')
    return `${ink('yellow', 'Not completed')}, since ${running} still runs: ${task}`
  }
  if (answer.completed_at === null) return `${ink('yellow', 'Preview')}: ${task}`
  if (answer.status === 'failed') return `${ink('red', 'Failed')}: ${task}`
  return `${ink('green', answer.status === 'partial_success' ? 'Partly completed' : 'Completed')} ${task}`
}

/** `"Add the form" (t-…)` */
function taskTitle({ task_id, task_name }: OutputOf<'complete_task'>, ink: RenderContext['ink']): string {
  return task_name === undefined
    ? ink('bold', task_id)
    : `${ink('bold', `"${task_name}"`)} ${ink('dim', task_id)}`
}

/** A correction changes nothing else of the report. */
function correctionAnswer(answer: OutputOf<'complete_task'>, { ink }: RenderContext): string {
  const text = answer.correction === undefined ? '' : `: ${answer.correction.text}`
  return [`${ink('green', 'Added a correction')} to ${taskTitle(answer, ink)}${text}`, answer.note ?? '']
    .filter((line) => line !== '')
    .join('\n')
}

type TaskAnswer = Extract<OutputOf<'show'>, { readonly kind: 'task' }>
type AttemptAnswer = TaskAnswer['attempts'][number]

/** A task's page: each attempt with its measurement, and its claims apart. */
export function taskPage(task: TaskAnswer, page: RenderContext): string {
  const { attempts } = task
  return blocks(
    `${page.ink('bold', task.name)}\n${pairs(headOf(task, page), page)}`,
    section('Subtasks', subtasksOf(task), page),
    ...attempts.map((attempt) => attemptText(attempt, task, page)),
    cutNote(attempts.length, task.attempts_total, 'these are the last ones.'),
    section('Needs a person', inboxList(task.items, page), page),
    section('Answered', inboxList(task.answered_items, page), page),
    section('Decisions', decisionList(task.decisions, page), page),
    section('Issues', issueList(task.issues, page), page),
    section('Progress', progressList(task.progress, page), page),
    section('Notes', noteLines(task.notes, page), page),
  )
}

function dependencyText({ id, name, status }: TaskAnswer['depends_on'][number]): string {
  return `${name} (${status.toLowerCase().replace(/_/g, ' ')})  ${id}`
}

function subtasksOf({ subtasks, subtasks_total: total }: TaskAnswer): string {
  const more = total > subtasks.length ? [`and ${total - subtasks.length} more: waymark task list`] : []
  return indentText([...subtasks.map(dependencyText), ...more].join('\n'))
}

function headOf(task: TaskAnswer, page: RenderContext): readonly (readonly [string, string])[] {
  const status = task.resolution === 'dropped' ? 'dropped' : task.status
  const notMeasured = task.resolution === 'unmeasured' ? ' (marked by hand)' : ''
  return [
    ['id', task.id],
    ['goal', task.goal === task.name ? '' : (task.goal ?? '')],
    ['status', `${statusWord(status, page)}${notMeasured}`],
    ['for', task.assignee ?? ''],
    ['role', task.role ?? ''],
    ['mission', task.mission_id === null ? '' : titledId(task.mission_id, page)],
    ['phase', task.phase?.name ?? ''],
    ['scope', task.areas.join(', ')],
    ['parent', task.parent === null ? '' : dependencyText(task.parent)],
    ['depends on', task.depends_on.map(dependencyText).join('\n')],
    ['step', task.step ?? ''],
    ...promiseRows(task.done_when),
    ['changed', task.measured === null || task.attempts_total === 1 ? '' : measuredFiles(task.measured)],
    ['landed', task.landed === null || task.undone ? '' : landingWords(task.landed).replace(/^landed /, '')],
    [
      'undone',
      task.undone === null ? '' : `${formatAge(task.undone.undone_at, page.now)} by ${task.undone.author}`,
    ],
    ['comments', commentsText(task)],
    ['work tree', task.own_work_tree ?? ''],
    ['created', `${formatAge(task.created_at, page.now)} by ${task.created_by ?? 'someone'}`],
  ]
}

function commentsText({ id, review_comments: { total, open } }: TaskAnswer): string {
  if (total === 0) return ''
  const waiting = open === 0 ? 'all answered' : `${open} without an answer`
  return `${formatCount(total, 'comment')} in reviews, ${waiting}: waymark review comments ${id}`
}

function measuringMachineText({ measured_by: measuredBy }: AttemptAnswer): string {
  if (measuredBy === undefined) return ''
  return `machine ${measuredBy.machine ?? measuredBy.machine_id}${measuredBy.token === null ? '' : ` (token ${measuredBy.token})`}`
}

function attemptText(attempt: AttemptAnswer, task: TaskAnswer, page: RenderContext): string {
  const agent = withPerson(attempt.agent_name, attempt.person)
  const author =
    attempt.claimed_by === null ? agent : withPerson(attempt.claimed_by, attempt.claimed_by_person)
  const took = attempt.duration_seconds === null ? '' : `, ${formatDuration(attempt.duration_seconds)}`
  const back =
    attempt.sent_back === undefined
      ? ''
      : `, ${page.ink('yellow', 'sent back')} by ${attempt.sent_back.author}`
  const title = `Attempt ${attempt.number} by ${agent}: ${statusWord(attempt.status, page)}${back}${took}`
  const head = pairs(
    [
      ['id', attempt.attempt_id],
      ['began', formatAge(attempt.started_at, page.now)],
      ['scope', attempt.areas.join(', ') || 'none declared'],
      ['work tree', attempt.work_tree],
      ['measured by', measuringMachineText(attempt)],
      ['access', attempt.lost_access ?? ''],
    ],
    page,
  )
  return section(
    title,
    indentText(
      blocks(
        head,
        measuredText(attempt, page),
        attempt.claimed ? claims(attempt.claimed, author, page) : '',
        attemptVerdict(attempt, task, page),
        ...attempt.corrections.map((correction) => correctionText(correction, page)),
      ),
    ),
    page,
  )
}

function attemptVerdict(
  {
    verdict,
    former_verdicts: former,
    not_mine: denied,
    changed_since: since = [],
    accepted_by: acceptedBy,
    attempt_id: id,
  }: AttemptAnswer,
  task: TaskAnswer,
  page: RenderContext,
): string {
  if (verdict === null) return ''
  const items = task.items.filter(({ attempt_id: of }) => of === id)
  const isLast = task.attempts.at(-1)?.attempt_id === id
  const before = former.flatMap((one) =>
    one.verdict === null || one.verdict.is === verdict.is ? [] : [one.verdict.is],
  )
  return [
    ...deniedLine(denied),
    verdictText(verdict, page, reviewCommand(task.id, items), acceptedBy),
    ...(isLast && acceptedBy === undefined
      ? nextStepLines(verdict, {
          taskId: task.id,
          open: task.items.filter(({ closed_at: closed }) => closed === null),
        })
      : []),
    before.length === 0 ? '' : page.ink('dim', `before: ${before.join(', ')}`),
    since.length === 0 ? '' : page.ink('yellow', `changed since: ${since.join(', ')}`),
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function correctionText(correction: AttemptAnswer['corrections'][number], page: RenderContext): string {
  const author = withPerson(correction.agent_name ?? correction.author, correction.person)
  return `${author} added ${formatAge(correction.created_at, page.now)}: ${quoteText(correction.text, page)}`
}

function measuredText({ measured, verdict, attempt_id: id }: AttemptAnswer, page: RenderContext): string {
  if (!measured) return ''
  const { measurement, scope, counts } = measured
  const verification = {
    scope_match: scope.matches,
    unexpected_files: scope.unexpected,
    warnings: measured.warnings,
  }
  return [
    scopeText({ measurement, verification }, page, { counts, listed: measured.changes }),
    measurement === 'unknown' ? '' : `Measured: ${countsInWords(counts)}`,
    indentText(changedFiles(measured.changes, page)),
    cutNote(measured.changes.length, countAllKinds(counts), `waymark changes ${id} lists all.`),
    indentText(ignoredFiles(measured.ignored)),
    sharedTreeText({ ...measured, verdict }, page),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** A table of tasks: measurements beside the result of the last attempt. */
export function taskTable(tasks: readonly TaskEntry[], page: RenderContext): string {
  const columns = [
    { title: 'task', shrinks: true },
    { title: 'status' },
    { title: 'agent' },
    { title: 'took' },
    { title: 'measured' },
    { title: 'verdict' },
    { title: 'id' },
  ]
  return table(
    columns,
    tasks.map((task) => [
      task.name,
      `${statusWord(task.status, page)}${task.is_unmeasured ? ' (marked by hand)' : ''}${task.undone === undefined ? '' : ', undone'}`,
      task.agent_name ?? '',
      durationText(task, page),
      measurementSummary(task, page),
      verdictCell(task.verdict, task.accepted_by, page),
      page.ink('dim', task.id),
    ]),
    page,
  )
}

function durationText(task: TaskEntry, page: RenderContext): string {
  const again = task.attempts === undefined ? '' : `, attempt ${task.attempts}`
  if (task.duration_seconds !== null) return `${formatDuration(task.duration_seconds)}${again}`
  return task.started_at === null ? '' : `began ${formatAge(task.started_at, page.now)}${again}`
}

function measurementSummary(task: TaskEntry, { ink }: RenderContext): string {
  if (!task.files_changed) return ''
  const scope = task.scope_match === false ? ink('red', ', not all in scope') : ''
  return `${formatCount(countAllKinds(task.files_changed), 'file')}${scope}`
}

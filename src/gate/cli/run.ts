import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { formatCount } from '../../kernel/text.ts'
import {
  blocks,
  bullets,
  cutNote,
  indentText,
  pairs,
  section,
  statusWord,
} from '../../surfaces/cli/render/parts.ts'
import { shortRunIds } from '../../surfaces/cli/render/run-ids.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { formatAge, plainText } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, CallView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { verdictText } from '../../track/cli/verdict.ts'
import { revokeCommand } from '../../track/domain/verdict.ts'
import { approvalsByEvent, entryStamp } from '../domain/approvals-by-event.ts'
import { payloadExample } from '../domain/payload-example.ts'
import type { AcceptedEntry, ApprovalEntry, EventEntry, RefusalEntry } from '../operations/run-answer.ts'

/** The state of a run: requirements, blocking guards, and events that can be sent. */
export const runState: AnswerView<'state_gate_get_state'> = (answer, page) => {
  const { ink, now } = page
  const head = [
    ink('bold', answer.process_id),
    `in "${answer.current_state}"`,
    statusWord(answer.status, page),
    ink('dim', `version ${answer.process_version}, revision ${answer.revision}`),
  ]
  return blocks(
    `${head.join('  ')}\n${ink('dim', `${answer.run_id}, moved ${formatAge(answer.updated_at, now)}`)}`,
    section('The agent is told', indentText(answer.prompt?.trimEnd() ?? ''), page),
    section('Needs a person', indentText(waitingItemsText(answer)), page),
    section('Evidence this state needs', indentText(artifacts(answer, page)), page),
    section('Blocked by', indentText(missingGuards(answer, page)), page),
    section('Events', indentText(allowedEventsText(answer, page)), page),
    section('Context', indentText(context(answer, page)), page),
  )
}

type RunDetail = Extract<OutputOf<'show'>, { readonly kind: 'run' }>

/** A run with its transitions and their requirements. */
export const runPage = (answer: RunDetail, page: RenderContext): string => {
  const { ink, now } = page
  const { run, mission, task } = answer
  const about = [task ?? [], mission ?? []].flat().map(({ id, name }) => `${name}  ${ink('dim', id)}`)
  return blocks(
    `${ink('bold', run.process_name)}  in "${run.current_state}"  ${statusWord(run.status, page)}  ${ink('dim', `version ${run.process_version}, revision ${run.revision}`)}\n${ink('dim', `${run.run_id}, moved ${formatAge(run.updated_at, now)}`)}`,
    section('About', indentText(about.join('\n')), page),
    section('The agent is told', indentText(answer.prompt?.trimEnd() ?? ''), page),
    section('Needs a person', indentText(waitingItemsText(answer)), page),
    answer.cannot_approve === null
      ? ''
      : page.ink('yellow', `You cannot approve it. ${answer.cannot_approve}`),
    section(
      'Transitions',
      indentText(answer.transitions.map((transition) => nextStepText(transition, run, page)).join('\n')),
      page,
    ),
    section('Artifacts', indentText(answer.artifacts.map(artifactText).join('\n')), page),
    cutNote(answer.artifacts.length, answer.artifacts_total, 'these are the newest.'),
    section('Context', indentText(context(answer, page)), page),
  )
}

function nextStepText(
  { event, to, checks, payload_schema: schema, for_people: isForPeople }: RunDetail['transitions'][number],
  { run_id: id }: Pick<RunDetail['run'], 'run_id'>,
  { ink }: RenderContext,
): string {
  const open = checks.filter(({ satisfied }) => !satisfied)
  const lines = open.map(({ name, reason }) => `\n  ${ink('yellow', '○')} ${name}: ${reason}`)
  const payload = payloadExample(schema ?? null)
  const isShown = open.length === 0 || (!isForPeople && payload !== null)
  const command = isShown ? `\n  ${emitCommand(id, event, payload)}` : ''
  return `${ink('bold', event)}  → ${to}${command}${lines.join('')}`
}

/** The command that emits an event, with an example of its payload. */
function emitCommand(
  id: string,
  event: string,
  payload: Readonly<Record<string, unknown>> | null,
  files: readonly string[] = [],
): string {
  const words = [
    'run',
    'emit',
    id,
    event,
    ...(payload === null ? [] : ['--payload', JSON.stringify(payload)]),
    ...files.flatMap((path) => ['--artifact-paths', path]),
  ]
  return ['waymark', ...words.map(quoteShellWord)].join(' ')
}

export type MissionOfStatus = OutputOf<'status'>['missions'][number]

/** Whether all tasks of a mission are done, and nothing about it waits. */
export function isAllDone({
  open_tasks: running,
  to_do_tasks: toDo,
  done_tasks: done,
  open_items: waiting,
}: MissionOfStatus): boolean {
  return done > 0 && running + toDo + waiting === 0
}

/** The next commands of the runs that gate a mission, or who sends their events, once all is done. */
export function gateSteps(mission: MissionOfStatus): readonly string[] {
  if (!isAllDone(mission)) return []
  return mission.gates.flatMap(({ run_id: id, next }) =>
    next.map(({ event, payload, sender }) =>
      sender === null ? emitCommand(id, event, payload) : `${sender} sends ${event}`,
    ),
  )
}

function artifactText({ path, type, status }: RunDetail['artifacts'][number]): string {
  return `${path}  ${type ?? 'no type'}${status === 'current' ? '' : `, ${status} since`}`
}

type RunState = OutputOf<'state_gate_get_state'>

function missingGuards({ missing_guards: guards }: RunState, { ink }: RenderContext): string {
  return guards
    .map((guard) => {
      const text = `${guard.guard_name}: ${guard.current_status}`
      return `${ink('yellow', '○')} ${text}\n  ${ink('dim', guard.fix)}`
    })
    .join('\n')
}

function waitingItemsText({ waits_for: waitsFor }: Pick<RunState, 'waits_for'>): string {
  if (waitsFor.length === 0) return ''
  return [...waitsFor.map((item) => `${item.item_id}  ${item.reason}`), 'waymark inbox'].join('\n')
}

function artifacts({ required_artifacts: artifacts }: RunState, { ink }: RenderContext): string {
  return artifacts
    .map((artifact) => {
      const present = artifact.status === 'present'
      const files = (present ? artifact.files : artifact.paths) ?? []
      const mark = present ? ink('green', '●') : ink('yellow', '○')
      return `${mark} ${artifact.type}  ${present ? '' : 'missing: '}${files.join(', ')}`.trimEnd()
    })
    .join('\n')
}

function allowedEventsText(
  { run_id: id, allowed_events: events, required_artifacts: artifacts }: RunState,
  { ink }: RenderContext,
): string {
  const missing = artifacts.flatMap(({ status, paths = [] }) =>
    status === 'missing' ? paths.slice(0, 1) : [],
  )
  return events
    .map((event) => {
      const to = event.would_transition_to
      const leads = to === null ? ink('dim', 'not yet') : `→ ${to}`
      const isPossible = to !== null || missing.length > 0
      const payload = payloadExample(event.payload_schema ?? null)
      const command = isPossible && emitCommand(id, event.event_name, payload, to === null ? missing : [])
      return `${`${ink('bold', event.event_name)}  ${leads}  ${ink('dim', event.description)}`.trimEnd()}${command ? `\n  ${command}` : ''}`
    })
    .join('\n')
}

function context(
  { context, context_cut: cut = [] }: Pick<RunState, 'context' | 'context_cut'>,
  page: RenderContext,
): string {
  const rows = Object.entries(context).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  )
  return [pairs(rows, page), cut.length === 0 ? '' : bullets([`cut: ${cut.join(', ')}`])]
    .filter((text) => text !== '')
    .join('\n')
}

const columns = [
  { title: 'process', shrinks: true },
  { title: 'for', shrinks: true },
  { title: 'state' },
  { title: 'status' },
  { title: 'moved' },
  { title: 'id' },
] as const

export const runList: CallView<'state_gate_list_runs'> = (answer, page, { status }) => {
  const runs = answer.runs
  if (runs.length === 0) {
    const start = 'Start one: waymark run create <process> (waymark process list)'
    return status === 'all'
      ? `There is no run yet. ${start}`
      : `No run matches. All of them: waymark run list --status all\n${start}`
  }
  const rows = runs.map((run) => [
    run.process_name,
    run.subject_name ?? '',
    page.ink('bold', run.current_state),
    statusWord(run.status, page),
    formatAge(run.updated_at, page.now),
    page.ink('dim', shortRunIds(run.run_id)),
  ])
  return table(columns, rows, page)
}

/** The result of an event. */
export const emittedEventView: AnswerView<'state_gate_emit_event'> = (answer, page) => {
  const { ink } = page
  const { error, result } = answer
  if (error) {
    const refused = `${ink('yellow', 'It would be refused')} (${error.code}): ${error.message}`
    return [refused, indentText(error.hint ?? '')].filter((line) => line !== '').join('\n')
  }
  if (!result) return ''
  const outcome = answer.dry_run ? 'It would be accepted' : 'Accepted'
  return blocks(
    `${ink('green', result.replayed ? 'Accepted before' : outcome)}: ${moveText(result)}`,
    afterEventText(result, page),
  )
}

/** The result of a person's decision. */
export function decisionView(
  answer: OutputOf<'approve' | 'reject' | 'resolve' | 'decide'>,
  page: RenderContext,
): string {
  const { ink } = page
  if ('item_id' in answer && !('kind' in answer)) {
    const asks = answer.item_id === null ? '' : ` and asks again in ${answer.item_id}`
    return `${ink('yellow', 'Rejected')}: ${answer.run_id} stays in "${answer.current_state}"${asks}. The agent gets your reason: ${answer.reason}`
  }
  if ('item_id' in answer) {
    const action = `${answer.action.charAt(0).toUpperCase()}${answer.action.slice(1)}`
    const kind = answer.kind.replace(/_/g, ' ')
    const isOwnText = answer.answer !== null && answer.answer !== answer.action
    const reads =
      answer.kind === 'command'
        ? 'The agent reads your text with the verdict of its task'
        : 'The agent reads your text when it asks for its context or starts the task; if it has stopped, tell it to go on'
    const answerText = isOwnText ? ` ${reads}: ${answer.answer}` : ''
    return [`${ink('green', action)} ${kind} ${answer.item_id}.${answerText}`, ...(answer.notes ?? [])].join(
      '\n',
    )
  }
  const {
    already_approved: already = [],
    still_missing: missing = [],
    note = '',
    event,
    transition,
    next = '',
  } = answer
  const approvals = (answer.approvals ?? [])
    .filter(({ artifact }) => !already.some((earlier) => earlier.artifact === artifact))
    .map(({ artifact, role }) => `${artifact ?? 'the state'} as ${role}`)
  const approved = approvals.length === 0 ? '' : `Approved ${approvals.join(', ')}.`
  if (missing.length > 0) {
    return blocks(approved, note, section('Still needed', indentText(missing.join('\n')), page))
  }
  const sent = event && transition ? `${ink('green', event)}: ${moveText({ ...answer, transition })}` : ''
  return [approved, sent, next].filter((line) => line !== '').join('\n')
}

/** A run's history, newest first: its moves, approvals and refused events. */
export const history: AnswerView<'run_history'> = (answer, page) => {
  const grouped = approvalsByEvent(answer.events, answer.approvals, entryStamp)
  const events = answer.events.map((event) => eventLine(event, grouped.byEvent.get(event) ?? [], page))
  const refusals = answer.refusals.map((refusal) => refusalLine(refusal, page))
  const approvals = grouped.alone.map((approval) => approvalLine(approval, page))
  const head = `${answer.run_id} is in ${page.ink('bold', answer.current_state)}, revision ${answer.revision}`
  return blocks(
    head,
    section('Moves', indentText(events.join('\n')), page),
    section('Approvals', indentText(approvals.join('\n')), page),
    section('Refused', indentText(refusals.join('\n')), page),
    events.length + refusals.length === 0 ? 'Nothing has happened yet.' : '',
  )
}

interface TransitionResult {
  readonly transition: AcceptedEntry['transition']
  readonly state_changed?: boolean | undefined
  readonly new_revision?: number | undefined
}

function moveText({ transition, state_changed: isMove, new_revision: revision }: TransitionResult): string {
  const { from_state: from, to_state: to } = transition
  return `${isMove ? `${from} → ${to}` : `evidence kept, it stays in ${from}`}, revision ${revision}`
}

function afterEventText(result: AcceptedEntry, page: RenderContext): string {
  const { unsatisfied_guards: missing = [], prompt = '', next_events: events = [], next = '' } = result
  return blocks(
    section('Still needed', indentText(missing.join('\n')), page),
    section('The agent is told', indentText(prompt.trimEnd()), page),
    events.length === 0 ? '' : `Next: ${events.join(', ')}`,
    next,
  )
}

function eventLine(
  event: EventEntry,
  approvals: readonly ApprovalEntry[],
  { ink, now }: RenderContext,
): string {
  const move = event.state_changed ? `${event.from_state} → ${event.to_state}` : `stays in ${event.to_state}`
  const files = event.artifacts.map(({ path }) => path)
  const author = ink('dim', `${event.author}, ${formatAge(event.created_at, now)}`)
  const line = `${String(event.revision).padStart(4)}  ${ink('bold', event.event)}  ${move}  ${author}`
  const payload = Object.entries(event.payload).map(([name, value]) => `${name}: ${plainText(value)}`)
  return [
    line,
    ...payload.map((text) => `      ${text}`),
    ...approvals.map(
      ({ artifact, role, reason, withdrawn_at: withdrawnAt }) =>
        `      approved ${artifact ?? 'the state'} as ${role}${withdrawnText(withdrawnAt, now)}${reason === null ? '' : `: ${reason}`}`,
    ),
    ...(files.length === 0 ? [] : [`      ${files.slice(0, 10).join(', ')}`]),
  ].join('\n')
}

function withdrawnText(time: string | null, now: number): string {
  return time === null ? '' : ` (withdrawn ${formatAge(time, now)})`
}

function approvalLine(
  { artifact, role, author, created_at: createdAt, reason, withdrawn_at: withdrawnAt }: ApprovalEntry,
  { ink, now }: RenderContext,
): string {
  const head = `${artifact ?? 'the state'} as ${role}${withdrawnText(withdrawnAt, now)}  ${ink('dim', `${author}, ${formatAge(createdAt, now)}`)}`
  return reason ? `${head}\n  ${reason}` : head
}

function refusalLine(refusal: RefusalEntry, { ink, now }: RenderContext): string {
  const {
    code,
    event,
    state,
    author,
    created_at: createdAt,
    tried_files: files,
    tried_payload: payload,
  } = refusal
  const tried = [...files.map(({ path, reason }) => reason ?? path), payload ?? ''].filter(Boolean)
  return [
    `${ink('bold', event)} in ${state}  ${ink('red', code)}  ${ink('dim', `${author}, ${formatAge(createdAt, now)}`)}`,
    ...refusal.missing_guards.map((missing) => `  ${missing}`),
    ...(tried.length === 0 ? [] : [`  tried: ${tried.join('; ')}`]),
  ].join('\n')
}

/** The events of a run, each with its target states and missing requirements. */
export const runEvents: AnswerView<'state_gate_list_events'> = (answer, page) => {
  const { events } = answer
  const head = `In ${page.ink('bold', answer.current_state)}, revision ${answer.revision}`
  if (events.length === 0) return `${head}: no event can be emitted.`
  return blocks(head, ...events.map((event) => eventText(event, answer, page)))
}

function eventText(
  event: OutputOf<'state_gate_list_events'>['events'][number],
  { run_id: id }: Pick<OutputOf<'state_gate_list_events'>, 'run_id'>,
  { ink }: RenderContext,
): string {
  const blocked = event.blocked_reason
  const name = ink(blocked === null ? 'bold' : 'dim', event.event_name)
  const head = `${name} (${event.allowed_roles.join(', ')})  ${event.description}`
  const lines = event.transitions.flatMap((transition) => [
    `  ${guardMark(transition.guard_status, ink)} → ${transition.to_state}${transition.guard ? `  when ${transition.guard}` : ''}`,
    ...(transition.missing_requirements ?? []).map((missing) => `      ${missing}`),
  ])
  const payload = payloadExample(event.payload_schema ?? null)
  const command = event.is_allowed ? emitCommand(id, event.event_name, payload) : ''
  return [
    head.trimEnd(),
    ...(blocked === null ? [] : [`  ${ink('dim', blocked)}`]),
    ...(command === '' ? [] : [`  ${command}`]),
    ...lines,
  ].join('\n')
}

function guardMark(status: string, ink: RenderContext['ink']): string {
  return status === 'unsatisfied' ? ink('yellow', '○') : ink('green', '●')
}

/** The results of guards' commands; for those that did not pass, the end of their output. */
export const verifyView: AnswerView<'verify'> = ({ commands, verdict, note = '' }, page) =>
  blocks(
    ...commands.map((command) => commandText(command, page)),
    verdict === undefined ? '' : section('Verdict now', verdictText(verdict, page, null), page),
    note,
  )

function commandText(command: OutputOf<'verify'>['commands'][number], page: RenderContext): string {
  const { run, status, item_id: item, for_maintainer: isForMaintainer } = command
  const head = `${page.ink('bold', run)}  ${statusText(status, page)}`
  if (status === 'unapproved') {
    const who = isForMaintainer ? 'A maintainer' : 'A person'
    const where = isForMaintainer ? ' (in a terminal here, or elsewhere if --trust-commands is set here)' : ''
    return `${head}\n  ${who} must approve it first${where}: ${item ? `waymark approve ${item}` : 'waymark inbox'}`
  }
  if (status === 'refused') {
    const { refused_by: author, reason = '', hash = '' } = command
    const why = reason === '' ? '' : `: ${reason}`
    return `${head}\n  ${author} rejected it${why}\n  To take the rejection back: ${revokeCommand(hash)}`
  }
  const lines = (command.output ?? '').trimEnd().split('\n')
  const shown = lines.slice(-maxOutputLines)
  const before = lines.length - shown.length
  if (status === 'passed' || lines.join('') === '') return head
  const cut =
    before === 0 ? [] : [page.ink('dim', `… ${formatCount(before, 'line')} before: --json prints all`)]
  return `${head}\n${indentText([...cut, ...shown].join('\n'))}`
}

const maxOutputLines = 100

function statusText(status: string, page: RenderContext): string {
  return status === 'passed' ? page.ink('green', status) : statusWord(status, page)
}

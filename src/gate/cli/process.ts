import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, indentText, section } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'

export const processList: AnswerView<'process_list'> = (answer, page) => {
  const rows = answer.processes.map(({ process_id: id, name, version, origin, errors }) => {
    const findings = errors > 0 ? page.ink('red', formatCount(errors, 'error')) : page.ink('green', 'sound')
    return [name ?? '', version ?? '', origin, findings, page.ink('dim', id)]
  })
  if (rows.length === 0) return 'There are no processes. Write one in .waymark/processes/<id>.yaml.'
  const columns = [{ title: 'process', shrinks: true }, { title: 'version' }]
  return table([...columns, { title: 'from' }, { title: 'check' }, { title: 'id' }], rows, page)
}

export const processShow: AnswerView<'process_show'> = (answer, page) => {
  if (answer.diagram !== undefined) return answer.diagram.trimEnd()
  if (answer.source !== undefined) {
    const { text, findings } = answer.source
    return blocks(text.trimEnd(), findings.map((finding) => line(answer.file, finding, page)).join('\n'))
  }
  const head = `${page.ink('bold', answer.name ?? '')}  ${answer.process_id} ${answer.version}`
  return blocks(
    [head, answer.description ?? ''].filter((line) => line !== '').join('\n'),
    section('States', list(answer.states, { title: 'end and limits', of: stateNotes }, page), page),
    section('Events', list(answer.events, { title: 'by', of: (event) => event.allowed_roles }, page), page),
    section('Transitions', transitions(answer, page), page),
    section('Guards', list(answer.guards, { title: 'looks at', of: (guard) => guard.looks_at }, page), page),
    section('Roles', list(answer.roles, { title: 'kind', of: (role) => [role.kind] }, page), page),
    page.ink('dim', `Draw it: ${shellCommand`waymark process show ${answer.process_id} --diagram text`}`),
  )
}

function list<Entry extends { readonly name: string; readonly description: string | null }>(
  entries: readonly Entry[] = [],
  notes: { readonly title: string; readonly of: (entry: Entry) => readonly string[] },
  page: RenderContext,
): string {
  const rows = entries.map((entry) => [entry.name, entry.description ?? '', notes.of(entry).join(', ')])
  return table(
    [{ title: 'name' }, { title: 'meaning', shrinks: true }, { title: notes.title, shrinks: true }],
    rows,
    page,
  )
}

type ProcessAnswer = OutputOf<'process_show'>

function stateNotes(state: NonNullable<ProcessAnswer['states']>[number]): readonly string[] {
  const { required_artifacts: required, max_visits: visits } = state
  return [
    ...(state.is_final ? [`final, ${state.outcome ?? ''}`] : []),
    ...(required.length === 0 ? [] : [`needs ${required.join(', ')}`]),
    ...(visits === null ? [] : [`at most ${visits} times`]),
  ]
}

function transitions({ transitions = [] }: ProcessAnswer, page: RenderContext): string {
  const rows = transitions.map(({ from, event, to, guard }) => [from, event, to, guard ?? ''])
  const columns = [{ title: 'from' }, { title: 'event' }, { title: 'to' }, { title: 'guard', shrinks: true }]
  return table(columns, rows, page)
}

/** One line per finding, `file:line:column`, as editors understand it. */
export const processLint: AnswerView<'process_lint'> = (answer, page) => {
  const file = answer.file
  const findings = answer.findings
  if (findings.length === 0) return `${file}: ${page.ink('green', 'nothing is wrong.')}`
  const lines = findings.map((finding) => line(file, finding, page))
  const total = `${formatCount(answer.errors, 'error')}, ${formatCount(answer.warnings, 'warning')}`
  return blocks(lines.join('\n'), total)
}

function line(
  file: string,
  finding: OutputOf<'process_lint'>['findings'][number],
  { ink }: RenderContext,
): string {
  const position = finding.line === null ? '' : `:${finding.line}:${finding.column}`
  const { severity } = finding
  const label = ink(severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'dim', severity)
  return `${file}${position}  ${label}  ${finding.message}  ${ink('dim', finding.rule)}`
}

export const processSimulate: AnswerView<'process_simulate'> = (answer, page) => {
  const steps = answer.steps.map((step) => stepText(step, page))
  const state = page.ink('bold', answer.current_state)
  const end = answer.finished ? `The run ends in ${state}.` : `The run is in ${state}.`
  const next = answer.finished ? '' : answer.allowed_events.map(eventText).join('\n')
  return blocks(
    steps.join('\n'),
    end,
    section('The agent is told', indentText(answer.prompt?.trimEnd() ?? ''), page),
    section('Next', indentText(next), page),
  )
}

function stepText(step: OutputOf<'process_simulate'>['steps'][number], { ink }: RenderContext): string {
  const event = `${step.event} (${step.role ?? 'no role'})`
  const missing = step.missing.flatMap((guard) => [
    `     ${guard.guard_name}: ${guard.reason}`,
    `       ${ink('dim', guard.fix)}`,
  ])
  if (!step.accepted || !step.transition) {
    const errors = (step.validation_errors ?? []).map(({ path, message }) => `     ${path}: ${message}`)
    return [`${ink('red', '✗')} ${event}  ${step.code}: ${step.message}`, ...missing, ...errors].join('\n')
  }
  const move = `${step.transition.from_state} → ${step.transition.to_state}`
  const stayed = step.state_changed ? '' : ', evidence kept'
  const withdraws = step.withdraws_approvals ? ', withdraws approvals of the sender' : ''
  return [`${ink('green', '✓')} ${event}  ${move}${stayed}${withdraws}`, ...missing].join('\n')
}

function eventText(event: OutputOf<'process_simulate'>['allowed_events'][number]): string {
  const lines = event.transitions.map(({ to_state: to, missing_requirements: missing }) => {
    return `to ${to}${missing.length === 0 ? '' : ` when: ${missing.join('; ')}`}`
  })
  return `${event.event_name}  ${lines.join(', or ')}`
}

import { counted } from '../../../domain/text.ts'
import { blocks, indented, section } from './parts.ts'
import { table } from './table.ts'
import { type Entry, entriesAt, entryAt, numberAt, type Page, textAt, textsAt, type View } from './view.ts'

export const processList: View<'process_list'> = (answer, page) => {
  const rows = answer.processes.map((process) => {
    const errors = numberAt(process, 'errors')
    const standing = errors > 0 ? page.ink('red', counted(errors, 'error')) : page.ink('green', 'sound')
    return [
      process.process_id,
      textAt(process, 'name'),
      textAt(process, 'version'),
      textAt(process, 'origin'),
      standing,
    ]
  })
  if (rows.length === 0) return 'There are no processes. Write one in .waymark/processes/<id>.yaml.'
  const columns = [{ title: 'id' }, { title: 'process', shrinks: true }, { title: 'version' }]
  return table([...columns, { title: 'from' }, { title: 'check' }], rows, page)
}

export const processShow: View<'process_show'> = (answer, page) => {
  const diagram = textAt(answer, 'diagram')
  if (diagram !== '') return diagram.trimEnd()
  const head = `${page.ink('bold', textAt(answer, 'name'))}  ${answer.process_id} ${textAt(answer, 'version')}`
  return blocks(
    [head, textAt(answer, 'description')].filter((line) => line !== '').join('\n'),
    section('States', list(entriesAt(answer, 'states'), stateNotes, page), page),
    section(
      'Events',
      list(entriesAt(answer, 'events'), (event) => textsAt(event, 'allowed_roles'), page),
      page,
    ),
    section('Transitions', transitions(answer, page), page),
    section(
      'Guards',
      list(entriesAt(answer, 'guards'), (guard) => textsAt(guard, 'looks_at'), page),
      page,
    ),
    section(
      'Roles',
      list(entriesAt(answer, 'roles'), (role) => [textAt(role, 'kind')], page),
      page,
    ),
    page.ink('dim', '--diagram text draws it.'),
  )
}

function list(entries: readonly Entry[], notes: (entry: Entry) => readonly string[], page: Page): string {
  const rows = entries.map((entry) => [
    textAt(entry, 'name'),
    textAt(entry, 'description'),
    notes(entry).join(', '),
  ])
  return table(
    [{ title: 'name' }, { title: 'what', shrinks: true }, { title: '', shrinks: true }],
    rows,
    page,
  )
}

function stateNotes(state: Entry): readonly string[] {
  const required = textsAt(state, 'required_artifacts')
  const visits = textAt(state, 'max_visits')
  return [
    ...(state['is_final'] === true ? [`final, ${textAt(state, 'outcome')}`] : []),
    ...(required.length === 0 ? [] : [`needs ${required.join(', ')}`]),
    ...(visits === '' ? [] : [`at most ${visits} times`]),
  ]
}

function transitions(answer: Entry, page: Page): string {
  const rows = entriesAt(answer, 'transitions').map((transition) => [
    textAt(transition, 'from'),
    textAt(transition, 'event'),
    textAt(transition, 'to'),
    textAt(transition, 'guard'),
  ])
  const columns = [{ title: 'from' }, { title: 'event' }, { title: 'to' }, { title: 'guard', shrinks: true }]
  return table(columns, rows, page)
}

/** One line per finding, `file:line:column`, as editors understand it. */
export const processLint: View<'process_lint'> = (answer, page) => {
  const file = answer.file
  const findings = answer.findings
  if (findings.length === 0) return `${file}: ${page.ink('green', 'nothing is wrong.')}`
  const lines = findings.map((finding) => line(file, finding, page))
  const total = `${counted(answer.errors, 'error')}, ${counted(answer.warnings, 'warning')}`
  return blocks(lines.join('\n'), total)
}

function line(file: string, finding: Entry, { ink }: Page): string {
  const at = textAt(finding, 'line') === '' ? '' : `:${textAt(finding, 'line')}:${textAt(finding, 'column')}`
  const severity = textAt(finding, 'severity')
  const shown = ink(severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'dim', severity)
  return `${file}${at}  ${shown}  ${textAt(finding, 'message')}  ${ink('dim', textAt(finding, 'rule'))}`
}

export const processSimulate: View<'process_simulate'> = (answer, page) => {
  const steps = answer.steps.map((step) => stepText(step, page))
  const state = page.ink('bold', answer.current_state)
  const end = answer.finished === true ? `The run ends in ${state}.` : `The run is in ${state}.`
  const next = answer.finished === true ? '' : entriesAt(answer, 'allowed_events').map(eventText).join('\n')
  return blocks(
    steps.join('\n'),
    end,
    section('Prompt', indented(textAt(answer, 'prompt').trimEnd()), page),
    section('Next', indented(next), page),
  )
}

function stepText(step: Entry, { ink }: Page): string {
  const event = `${textAt(step, 'event')} (${textAt(step, 'role') || 'no role'})`
  const missing = entriesAt(step, 'missing').flatMap((guard) => [
    `     ${textAt(guard, 'guard_name')}: ${textAt(guard, 'reason')}`,
    `       ${ink('dim', textAt(guard, 'fix'))}`,
  ])
  const errors = entriesAt(step, 'validation_errors').map(
    (error) => `     ${textAt(error, 'path')}: ${textAt(error, 'message')}`,
  )
  if (step['accepted'] !== true) {
    const told = `${ink('red', '✗')} ${event}  ${textAt(step, 'code')}: ${textAt(step, 'message')}`
    return [told, ...missing, ...errors].join('\n')
  }
  const moved = entryAt(step, 'transition') ?? {}
  const way = `${textAt(moved, 'from_state')} → ${textAt(moved, 'to_state')}`
  const stayed = step['state_changed'] === true ? '' : ', evidence kept'
  return [`${ink('green', '✓')} ${event}  ${way}${stayed}`, ...missing].join('\n')
}

function eventText(event: Entry): string {
  const ways = entriesAt(event, 'transitions').map((transition) => {
    const missing = textsAt(transition, 'missing_requirements')
    return `to ${textAt(transition, 'to_state')}${missing.length === 0 ? '' : ` when: ${missing.join('; ')}`}`
  })
  return `${textAt(event, 'event_name')}  ${ways.join(', or ')}`
}

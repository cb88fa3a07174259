import { blocks, bullets, cutNote, indented, nextPage, pairs, section, statusWord } from './parts.ts'
import { table } from './table.ts'
import { age } from './text.ts'
import {
  type AnswerOf,
  type Entry,
  entriesAt,
  entryAt,
  type Page,
  textAt,
  textsAt,
  type View,
} from './view.ts'

/** Where a run stands: what is asked for here, what stands in the way, what can be emitted. */
export const runState: View<'state_gate_get_state'> = (answer, page) => {
  const { ink, now } = page
  const updated = answer.updated_at
  const head = [
    ink('bold', answer.current_state),
    `revision ${answer.revision}`,
    statusWord(textAt(answer, 'status'), page),
    ink('dim', `${answer.process_id} ${answer.process_version}`),
  ]
  return blocks(
    `${head.join('  ')}\n${ink('dim', `${answer.run_id}, moved ${age(updated, now)}`)}`,
    section('Prompt', indented(textAt(answer, 'prompt').trimEnd()), page),
    section('Waits for a person', indented(waiting(answer)), page),
    section('Evidence this state needs', indented(artifacts(answer, page)), page),
    section('In the way', indented(missingGuards(answer.missing_guards, page)), page),
    section('Can be emitted', indented(allowed(answer, page)), page),
    section('Context', indented(context(answer, page)), page),
  )
}

function missingGuards(guards: readonly Entry[], { ink }: Page): string {
  return guards
    .map((guard) => {
      const told = `${textAt(guard, 'guard_name')}: ${textAt(guard, 'current_status') || textAt(guard, 'reason')}`
      return `${ink('yellow', '○')} ${told}\n  ${ink('dim', textAt(guard, 'fix'))}`
    })
    .join('\n')
}

function waiting(answer: Entry): string {
  return entriesAt(answer, 'waits_for')
    .map((hold) => `${textAt(hold, 'hold_id')}  ${textAt(hold, 'reason')}`)
    .join('\n')
}

function artifacts(answer: Entry, { ink }: Page): string {
  return entriesAt(answer, 'required_artifacts')
    .map((artifact) => {
      const present = textAt(artifact, 'status') === 'present'
      const files = present ? textsAt(artifact, 'files') : textsAt(artifact, 'paths')
      const mark = present ? ink('green', '●') : ink('yellow', '○')
      return `${mark} ${textAt(artifact, 'type')}  ${present ? '' : 'missing: '}${files.join(', ')}`.trimEnd()
    })
    .join('\n')
}

function allowed(answer: Entry, { ink }: Page): string {
  return entriesAt(answer, 'allowed_events')
    .map((event) => {
      const to = textAt(event, 'would_transition_to')
      const leads = to === '' ? ink('dim', 'not yet') : `→ ${to}`
      return `${ink('bold', textAt(event, 'event_name'))}  ${leads}  ${ink('dim', textAt(event, 'description'))}`.trimEnd()
    })
    .join('\n')
}

function context(answer: Entry, page: Page): string {
  const rows = Object.entries(entryAt(answer, 'context') ?? {}).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  )
  const cut = textsAt(answer, 'context_cut')
  return [pairs(rows, page), cut.length === 0 ? '' : bullets([`cut: ${cut.join(', ')}`])]
    .filter((text) => text !== '')
    .join('\n')
}

const columns = [
  { title: 'run', shrinks: true },
  { title: 'process', shrinks: true },
  { title: 'state' },
  { title: 'status' },
  { title: 'rev', align: 'right' },
  { title: 'for' },
  { title: 'moved' },
] as const

export const runList: View<'state_gate_list_runs'> = (answer, page) => {
  const runs = answer.runs
  if (runs.length === 0) {
    return 'No run matches. waymark list-runs --status all shows all of them; waymark create-run <process> starts one.'
  }
  const rows = runs.map((run) => [
    run.run_id,
    run.process_id,
    page.ink('bold', run.current_state),
    statusWord(run.status, page),
    textAt(run, 'revision'),
    textAt(run, 'task_id') || textAt(run, 'mission_id') || '–',
    age(textAt(run, 'updated_at'), page.now),
  ])
  return blocks(table(columns, rows, page), cutNote(runs.length, answer.total, nextPage(answer)))
}

/** What an event came to. */
export const emitted: View<'state_gate_emit_event'> = (answer, page) => {
  const { ink } = page
  const error = entryAt(answer, 'error')
  if (error) {
    const hint = textAt(error, 'hint')
    return `${ink('yellow', 'It would be refused')} (${textAt(error, 'code')}): ${textAt(error, 'message')}${hint === '' ? '' : `\n${indented(hint)}`}`
  }
  const result = entryAt(answer, 'result') ?? {}
  const dry = answer['dry_run'] === true ? 'It would be accepted' : 'Accepted'
  const head = result['replayed'] === true ? 'Accepted before' : dry
  return blocks(`${ink('green', head)}: ${moved(result)}`, after(result, page))
}

/** What a person's decision came to. */
export function decided(answer: AnswerOf<'approve' | 'reject' | 'decide'>, page: Page): string {
  const { ink } = page
  const hold = textAt(answer, 'hold_id')
  if (hold !== '') {
    const done = textAt(answer, 'status') === 'dismissed' ? 'Rejected' : 'Approved'
    return `${ink('green', done)}: ${textAt(answer, 'kind').replace(/_/g, ' ')} ${hold}. The agent is told: ${textAt(answer, 'answer')}`
  }
  const already = entriesAt(answer, 'already_approved').map((approval) => approval['of'])
  const approvals = entriesAt(answer, 'approvals')
    .filter((approval) => !already.includes(approval['of']))
    .map((approval) => `${textAt(approval, 'of') || 'the state'} as ${textAt(approval, 'role')}`)
    .join(', ')
  const approved = approvals === '' ? '' : `Approved ${approvals}.`
  const missing = textsAt(answer, 'still_missing')
  const note = textAt(answer, 'note')
  if (missing.length > 0) {
    return blocks(approved, note, section('Still needed', indented(missing.join('\n')), page))
  }
  const event = textAt(answer, 'event')
  return blocks(
    [approved, event === '' ? '' : `${ink('green', event)}: ${moved(answer)}`]
      .filter((line) => line !== '')
      .join('\n'),
  )
}

/** A run's history: what moved it, newest first, and what was refused. */
export const history: View<'run_history'> = (answer, page) => {
  const events = answer.events.map((event) => eventLine(event, page))
  const refusals = answer.refusals.map((refusal) => refusalLine(refusal, page))
  const approvals = entriesAt(answer, 'approvals').map((approval) => approvalLine(approval, page))
  const head = `${answer.run_id} is in ${page.ink('bold', textAt(answer, 'current_state'))}, revision ${textAt(answer, 'revision')}`
  return blocks(
    head,
    section('Moves', indented(events.join('\n')), page),
    section('Approvals', indented(approvals.join('\n')), page),
    section('Refused', indented(refusals.join('\n')), page),
    events.length + refusals.length === 0 ? 'Nothing has happened to it yet.' : '',
  )
}

function moved(result: Entry): string {
  const way = entryAt(result, 'transition') ?? {}
  const [from, to] = [textAt(way, 'from_state'), textAt(way, 'to_state')]
  const kept = result['state_changed'] === false ? `evidence kept, it stays in ${from}` : `${from} → ${to}`
  return `${kept}, revision ${textAt(result, 'new_revision')}`
}

function after(result: Entry, page: Page): string {
  const missing = textsAt(result, 'unsatisfied_guards')
  const next = textsAt(result, 'next_events')
  return blocks(
    section('Still needed', indented(missing.join('\n')), page),
    section('Prompt', indented(textAt(result, 'prompt').trimEnd()), page),
    next.length === 0 ? '' : `Next: ${next.join(', ')}`,
  )
}

function eventLine(event: Entry, { ink }: Page): string {
  const way =
    event['state_changed'] === true
      ? `${textAt(event, 'from_state')} → ${textAt(event, 'to_state')}`
      : `stays in ${textAt(event, 'to_state')}`
  const files = entriesAt(event, 'artifacts').map((artifact) => textAt(artifact, 'path'))
  const line = `${textAt(event, 'revision').padStart(4)}  ${ink('bold', textAt(event, 'event'))}  ${way}  ${ink('dim', `${textAt(event, 'by')} ${textAt(event, 'at')}`)}`
  const payload = entryAt(event, 'payload') ?? {}
  const said = Object.keys(payload).map((name) => `${name}: ${textAt(payload, name)}`)
  return [
    line,
    ...said.map((text) => `      ${text}`),
    ...(files.length === 0 ? [] : [`      ${files.slice(0, 10).join(', ')}`]),
  ].join('\n')
}

function approvalLine(approval: Entry, { ink }: Page): string {
  const reason = textAt(approval, 'reason')
  const head = `${textAt(approval, 'of') || 'the state'} as ${textAt(approval, 'role')}  ${ink('dim', `${textAt(approval, 'by')} ${textAt(approval, 'at')}`)}`
  return reason === '' ? head : `${head}\n  ${reason}`
}

function refusalLine(refusal: Entry, { ink }: Page): string {
  const head = `${ink('red', textAt(refusal, 'code'))}  ${textAt(refusal, 'event')} in ${textAt(refusal, 'state')}  ${ink('dim', `${textAt(refusal, 'by')} ${textAt(refusal, 'at')}`)}`
  const payload = textAt(refusal, 'tried_payload')
  const files = entriesAt(refusal, 'tried_files').map(
    (file) => textAt(file, 'reason') || textAt(file, 'path'),
  )
  return [
    head,
    ...textsAt(refusal, 'missing_guards').map((missing) => `  ${missing}`),
    ...(files.length + payload.length === 0
      ? []
      : [`  tried: ${[...files, payload].filter(Boolean).join('; ')}`]),
  ].join('\n')
}

/** The events of a run: each with where it leads and what its guards still ask for. */
export const runEvents: View<'state_gate_list_events'> = (answer, page) => {
  const events = answer.events
  const head = `In ${page.ink('bold', answer.current_state)}, revision ${textAt(answer, 'revision')}`
  if (events.length === 0) return `${head}: nothing can be emitted.`
  return blocks(head, ...events.map((event) => eventText(event, page)))
}

function eventText(event: Entry, { ink }: Page): string {
  const blocked = textAt(event, 'blocked_reason')
  const roles = textsAt(event, 'allowed_roles').join(', ')
  const head = `${ink(blocked === '' ? 'bold' : 'dim', textAt(event, 'event_name'))} (${roles})  ${textAt(event, 'description')}`
  const ways = entriesAt(event, 'transitions').flatMap((way) => [
    `  ${mark(textAt(way, 'guard_status'), ink)} → ${textAt(way, 'to_state')}${guard(way)}`,
    ...textsAt(way, 'missing_requirements').map((missing) => `      ${missing}`),
  ])
  return [head.trimEnd(), ...(blocked === '' ? [] : [`  ${ink('dim', blocked)}`]), ...ways].join('\n')
}

function guard(way: Entry): string {
  const name = textAt(way, 'guard')
  return name === '' ? '' : `  when ${name}`
}

function mark(status: string, ink: Page['ink']): string {
  return status === 'unsatisfied' ? ink('yellow', '○') : ink('green', '●')
}

/** The results of the commands that guards ask for; of those that did not pass, the end of what they printed. */
export const verified: View<'verify'> = (answer, page) =>
  blocks(...answer.commands.map((command) => commandText(command, page)))

function commandText(command: Entry, page: Page): string {
  const status = textAt(command, 'status')
  const head = `${page.ink('bold', textAt(command, 'run'))}  ${words(status, page)}`
  if (status === 'unapproved') {
    return `${head}\n  A person must allow it first: waymark approve ${textAt(command, 'hold_id')}`
  }
  const output = textAt(command, 'output').trimEnd().split('\n').slice(-20).join('\n')
  return status === 'passed' || output === '' ? head : `${head}\n${indented(output)}`
}

function words(status: string, page: Page): string {
  return status === 'passed' ? page.ink('green', status) : statusWord(status, page)
}

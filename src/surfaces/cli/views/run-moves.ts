import { type Entry, entriesAt, entryAt, textAt, textsAt } from './entry.ts'
import { blocks, indented, section } from './parts/sections.ts'
import type { Page, View } from './view.ts'

/** What an event came to. */
export const emitted: View = (answer, page) => {
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
export const decided: View = (answer, page) => {
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
export const history: View = (answer, page) => {
  const events = entriesAt(answer, 'events').map((event) => eventLine(event, page))
  const refusals = entriesAt(answer, 'refusals').map((refusal) => refusalLine(refusal, page))
  const approvals = entriesAt(answer, 'approvals').map((approval) => approvalLine(approval, page))
  const head = `${textAt(answer, 'run_id')} is in ${page.ink('bold', textAt(answer, 'current_state'))}, revision ${textAt(answer, 'revision')}`
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

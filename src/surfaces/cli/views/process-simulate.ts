import { type Entry, entriesAt, entryAt, textAt, textsAt } from './entry.ts'
import { blocks, indented, section } from './parts/sections.ts'
import type { Page, View } from './view.ts'

export const processSimulate: View = (answer, page) => {
  const steps = entriesAt(answer, 'steps').map((step) => stepText(step, page))
  const state = page.ink('bold', textAt(answer, 'current_state'))
  const end = answer['finished'] === true ? `The run ends in ${state}.` : `The run is in ${state}.`
  const next =
    answer['finished'] === true ? '' : entriesAt(answer, 'allowed_events').map(eventText).join('\n')
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

import { age } from '../text/age.ts'
import { type Entry, entriesAt, entryAt, textAt, textsAt } from './entry.ts'
import { blocks, bullets, indented, pairs, section } from './parts/sections.ts'
import { statusWord } from './parts/status-word.ts'
import type { Page, View } from './view.ts'

/** Where a run stands: what is asked for here, what stands in the way, what can be emitted. */
export const runState: View = (answer, page) => {
  const { ink, now } = page
  const updated = textAt(answer, 'updated_at')
  const head = [
    ink('bold', textAt(answer, 'current_state')),
    `revision ${textAt(answer, 'revision')}`,
    statusWord(textAt(answer, 'status'), page),
    ink('dim', `${textAt(answer, 'process_id')} ${textAt(answer, 'process_version')}`),
  ]
  return blocks(
    `${head.join('  ')}\n${ink('dim', `${textAt(answer, 'run_id')}, moved ${age(updated, now)}`)}`,
    section('Prompt', indented(textAt(answer, 'prompt').trimEnd()), page),
    section('Waits for a person', indented(waiting(answer)), page),
    section('Evidence this state needs', indented(artifacts(answer, page)), page),
    section('In the way', indented(missingGuards(entriesAt(answer, 'missing_guards'), page)), page),
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

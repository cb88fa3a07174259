import { type Entry, entriesAt, textAt, textsAt } from './entry.ts'
import { blocks } from './parts/sections.ts'
import type { Page, View } from './view.ts'

/** The events of a run: each with where it leads and what its guards still ask for. */
export const runEvents: View = (answer, page) => {
  const events = entriesAt(answer, 'events')
  const head = `In ${page.ink('bold', textAt(answer, 'current_state'))}, revision ${textAt(answer, 'revision')}`
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

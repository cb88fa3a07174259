import { table } from '../text/table.ts'
import { type Entry, entriesAt, textAt, textsAt } from './entry.ts'
import { blocks, section } from './parts/sections.ts'
import type { Page, View } from './view.ts'

export const processShow: View = (answer, page) => {
  const diagram = textAt(answer, 'diagram')
  if (diagram !== '') return diagram.trimEnd()
  const head = `${page.ink('bold', textAt(answer, 'name'))}  ${textAt(answer, 'process_id')} ${textAt(answer, 'version')}`
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

import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { blocks, section, statusWord } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'

/** What was found, by kind: names before ids. */
export const search: AnswerView<'search'> = ({ missions, tasks, runs }, page) =>
  blocks(
    section('Missions', foundTable(missions, page), page),
    section('Tasks', foundTable(tasks, page), page),
    section('Runs', foundTable(runs, page), page),
  ) ||
  'No name matches. waymark task list lists the tasks; waymark why <file>:<line> finds the task of a line.'

function foundTable(found: OutputOf<'search'>['tasks'], page: RenderContext): string {
  const columns = [{ title: 'name', shrinks: true }, { title: 'status' }, { title: 'id' }]
  const rows = found.map(({ id, name, status }) => [name, statusWord(status, page), page.ink('dim', id)])
  return table(columns, rows, page)
}

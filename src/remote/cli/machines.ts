import { formatCount } from '../../kernel/text.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView } from '../../surfaces/cli/render/view.ts'

export const machines: AnswerView<'machine_list'> = ({ machines: listed }, page) => {
  if (listed.length === 0)
    return 'No other machine works on this project. Connect one there: waymark connect <url of this server>'
  const columns = [
    { title: 'machine', shrinks: true },
    { title: 'token', shrinks: true },
    { title: 'version' },
    { title: 'seen' },
    { title: 'work', shrinks: true },
    { title: 'id' },
  ]
  const rows = listed.map(({ name, token, version, last_seen: seen, open, id }) => [
    name,
    token,
    version,
    formatAge(seen, page.now),
    open.length === 0
      ? ''
      : `${formatCount(open.length, 'task')}: ${open.map((task) => `${task.name} (${task.agent_name})`).join(', ')}`,
    page.ink('dim', id),
  ])
  return table(columns, rows, page)
}

import { formatCount } from '../../kernel/text.ts'
import { warnings } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView } from '../../surfaces/cli/render/view.ts'

const commandsAreApproved =
  'The first task that needs a command asks you once whether it may run: waymark inbox'

export const settingChanged: AnswerView<'setting_set'> = ({ name, value, before }, { ink }) =>
  value === before
    ? `${name} is already ${value}. Nothing changed.`
    : `${ink('green', 'Changed')} ${name} from ${before} to ${ink('bold', value)}.${name === 'done_when' && value.includes('"check"') ? `\n${commandsAreApproved}` : ''}`

export const projects: AnswerView<'project_list'> = ({ projects: listed }, page) => {
  if (listed.length === 0) return 'This server has no projects yet. Add one: waymark project add <name>'
  const columns = [
    { title: 'project', shrinks: true },
    { title: 'inbox', align: 'right' as const },
    { title: 'running', align: 'right' as const },
    { title: 'last entry' },
    { title: 'id' },
  ]
  const rows = listed.map(({ name, waiting, open_attempts, last_event_at: last, id }) => [
    name,
    String(waiting),
    String(open_attempts),
    last === null ? 'none' : formatAge(last, page.now),
    page.ink('dim', id),
  ])
  return table(columns, rows, page)
}

export const projectAdded: AnswerView<'project_add'> = ({ id, name, owner }, { ink }) =>
  `${ink('green', 'Added')} the project ${ink('bold', name)} ${ink('dim', id)}${owner === null ? '' : `, owned by ${owner.name}`}.`

export const projectRenamed: AnswerView<'project_rename'> = ({ name, before }, { ink }) =>
  `${ink('green', 'Renamed')} ${before} to ${ink('bold', name)}.`

export const backedUp: AnswerView<'backup_create'> = ({ file, events, bytes }, { ink }) =>
  `${ink('green', 'Wrote')} ${file}: ${entries(events)}, ${sizeOf(bytes)}.`

export const restored: AnswerView<'backup_restore'> = (answer, { ink }) => {
  const { restored: file, events, kept, asked_again: asked } = answer
  const old = kept === null ? '' : ` The database that was here is now ${kept}.`
  const again = asked === 0 ? '' : ` ${formatCount(asked, 'command')} must be approved again before running.`
  return `${ink('green', 'Restored')} ${file}: ${entries(events)}.${old}${again}`
}

export const repaired: AnswerView<'doctor_repair'> = ({ backup, events, tables, rows }, { ink }) => {
  const copy = backup === null ? '' : ` The database before is in ${backup}.`
  if (tables.length === 0) return `Nothing had to be repaired: ${entries(events)} checked.${copy}`
  return `${ink('green', 'Repaired')} ${formatCount(rows, 'row')} in ${tables.join(', ')} from ${entries(events)}.${copy}`
}

export const trusted: AnswerView<'doctor_trust'> = ({ events }, { ink }) =>
  `${ink('green', 'Trusted')} the record as it is now: ${entries(events)}.`

export const pruned: AnswerView<'prune'> = (answer, { ink }) => {
  const removed = [
    countText(answer.removed_snapshots, 'snapshot'),
    countText(answer.removed_diffs, 'diff'),
    countText(answer.removed_outputs, 'output of commands', 'outputs of commands'),
    countText(answer.removed_contents, 'stored file'),
  ].flat()
  const stale =
    answer.stale_attempts === 0
      ? ''
      : ` ${formatCount(answer.stale_attempts, 'stale attempt')} went to the inbox.`
  if (removed.length === 0) return `Nothing to remove.${stale}`
  return `${ink('green', 'Removed')} ${removed.join(', ')} (${sizeOf(answer.removed_bytes)} of texts).${stale}`
}

function countText(count: number, noun: string, plural?: string): readonly string[] {
  return count === 0 ? [] : [formatCount(count, noun, plural)]
}

export const reopened: AnswerView<'export_reopen'> = ({ events, reopened: isNew }, { ink }) =>
  isNew
    ? `${ink('green', 'Reopened')} the project: ${entries(events)}.`
    : 'The project is open. Nothing changed.'

export const replaced: AnswerView<'import_replace'> = ({ events, added, set_aside: aside, next }, { ink }) =>
  [
    `${ink('green', 'Imported')} ${entries(events)}, ${added} of them new.`,
    aside === null ? '' : `The record that was here is now ${aside}.`,
    next,
  ]
    .filter((line) => line !== '')
    .join('\n')

export const workTreeAdded: AnswerView<'worktree_add'> = ({ task_id: task, path, branch, notes }, page) =>
  [
    `${page.ink('green', 'Created')} ${page.ink('bold', path)} on branch ${branch}.`,
    warnings(notes, page),
    `Start a client there: waymark worktree start ${task}`,
  ]
    .filter((line) => line !== '')
    .join('\n')

function entries(count: number): string {
  return formatCount(count, 'log entry', 'log entries')
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

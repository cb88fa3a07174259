import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, cutNote, indentText, section } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { escapeLineBreaks, formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView } from '../../surfaces/cli/render/view.ts'
import { restoreGapWords } from '../domain/restore.ts'
import { diffText } from './changes.ts'

export const restoreView: AnswerView<'restore'> = (answer, page) => {
  const { id, title, files, files_total: total, newer, refused, left_out: leftOut, commits } = answer
  const { ink } = page
  const name = `"${title}" ${ink('dim', id)}`
  const rows = (entries: readonly (readonly [path: string, note: string])[]) =>
    indentText(entries.map(([path, note]) => `${escapeLineBreaks(path)}  ${ink('dim', note)}`).join('\n'))
  const head = answer.written
    ? `${ink('green', 'Restored')} ${name}: ${formatCount(total, 'file')} in ${answer.work_tree}.`
    : !answer.success
      ? `Cannot restore ${name} in ${answer.work_tree}. In the way: ${formatCount(answer.newer_total + refused.length, 'file')}. Nothing was written.`
      : total === 0
        ? `Nothing to restore of ${name} in ${answer.work_tree}${answer.same === 0 ? '' : `: ${formatCount(answer.same, 'file')} unchanged since`}.${undoText(answer)}`
        : `${name}: ${formatCount(total, 'file')} can be restored in ${answer.work_tree}.`
  return blocks(
    answer.written || total === 0 ? '' : diffText({ ...answer, left_out_total: 0 }, page),
    head,
    section(
      answer.success ? 'Files' : 'Can be restored',
      rows(files.map(({ path, action }) => [path, action])),
      page,
    ),
    cutNote(files.length, total, 'the others are not listed here.'),
    section('Newer content, not overwritten without --force', rows(newer.map((path) => [path, ''])), page),
    cutNote(newer.length, answer.newer_total, 'the others are not listed here.'),
    section('Not written', rows(refused.map(({ path, problem }) => [path, problem])), page),
    section('Not kept', rows(leftOut.map(({ path, why }) => [path, restoreGapWords[why]])), page),
    cutNote(leftOut.length, answer.left_out_total, 'the others are not listed here.'),
    section(
      'Commits on no branch: these commands restore them',
      indentText(commits.map(({ command }) => command).join('\n')),
      page,
    ),
    answer.next_steps.join('\n'),
    answer.snapshot_id === null ? '' : `To undo this: waymark restore ${answer.snapshot_id}`,
  )
}

function undoText({ undo }: OutputOf<'restore'>): string {
  if (undo === null) return ''
  return undo === 'counts' ? ' The work still counts as undone.' : ' The work no longer counts as undone.'
}

export const restorable: AnswerView<'restore_list'> = ({ restorable: entries, total }, page) => {
  if (entries.length === 0) return 'Nothing can be restored: no work was measured in the last 30 days.'
  const columns = [
    { title: 'id' },
    { title: 'what' },
    { title: 'title', shrinks: true },
    { title: 'files', align: 'right' as const },
    { title: 'when' },
    { title: 'machine' },
  ]
  const rows = entries.map(({ id, what, title, files, taken_at, machine }) => [
    id,
    what,
    title,
    files === null ? '' : String(files),
    formatAge(taken_at, page.now),
    machine ?? '',
  ])
  return blocks(
    table(columns, rows, page),
    cutNote(entries.length, total, 'waymark restore --list --limit 200 shows more.'),
  )
}

/** Lost files that nobody brought back yet, a line for each loss. */
export function lossLines({
  losses = [],
  losses_total: total = 0,
}: Pick<OutputOf<'get_context'>, 'losses' | 'losses_total'>): readonly string[] {
  const more = total - losses.length
  return [
    ...losses.map(({ paths, paths_total: files, restore }) => {
      const others = files > paths.length ? ` and ${files - paths.length} more` : ''
      return `Lost: ${paths.map(escapeLineBreaks).join(', ')}${others}. A person brings them back: ${restore}`
    }),
    ...(more > 0 ? [`${more} more losses: waymark inbox`] : []),
  ]
}

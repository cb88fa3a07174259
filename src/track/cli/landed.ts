import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, cutNote, section } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import type { CallView } from '../../surfaces/cli/render/view.ts'
import { landedStates, landedWords, landingWords } from '../domain/landed.ts'

/** Where finished tasks are, and those that did not land. */
export const landed: CallView<'measure_landed'> = (answer, page, { task: asked }) => {
  const { branch, counts, tasks, tasks_total, note } = answer
  if (note !== undefined) return note
  const found = asked === undefined ? landedCounts(counts) : []
  if (tasks.length === 0 && found.length === 0) return 'No finished task has changed lines yet.'
  const columns = [{ title: 'task', shrinks: true }, { title: 'where its lines are' }, { title: 'id' }]
  const isBehind = tasks.some(({ is }) => is !== 'landed')
  const rows = tasks.map((task) => [task.title, landingWords(task), page.ink('dim', task.task_id)])
  return blocks(
    [branch === null ? 'No default branch was found' : `Default branch: ${branch}`, found.join(', ')]
      .filter((part) => part !== '')
      .map((part) => `${part}.`)
      .join(' '),
    section(isBehind ? 'Not landed' : 'Landed', table(columns, rows, page), page),
    tasks.some(({ is, lines, total }) => is === 'landed' && lines < total)
      ? 'A line that was changed or removed since its task ended is not counted.'
      : '',
    cutNote(tasks.length, tasks_total, 'waymark show <task> shows where its lines are.'),
  )
}

/** `2 tasks landed`, for each state that a task is in. */
export function landedCounts(counts: OutputOf<'measure_landed'>['counts']): readonly string[] {
  return landedStates.flatMap((state) => {
    const many = counts[state] ?? 0
    return many === 0 ? [] : `${formatCount(many, 'task')} ${landedWords[state]}`
  })
}

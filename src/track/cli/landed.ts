import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount, joinNames } from '../../kernel/text.ts'
import { blocks, cutNote, section } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import type { CallView } from '../../surfaces/cli/render/view.ts'
import { landedStates, landedWords, landingWords } from '../domain/landed.ts'

/** Where finished tasks are, and those that did not land. */
export const landed: CallView<'measure_landed'> = (answer, page, { task: asked }) => {
  const { counts, tasks, tasks_total, undone, note } = answer
  if (note !== undefined) return note
  const found = asked === undefined ? landedCounts(counts) : []
  if (tasks.length === 0 && found.length === 0 && undone.length === 0)
    return 'No finished task has changed lines yet.'
  const columns = [{ title: 'task', shrinks: true }, { title: 'where its lines are' }, { title: 'id' }]
  const behind = tasks.filter(({ is }) => is !== 'landed')
  const notLanded = behind.every(({ is }) => is === 'unknown') ? 'Not measured' : 'Not landed'
  const rows = tasks.map((task) => [task.title, placeText(task), page.ink('dim', task.task_id)])
  const machines = [...new Set(behind.flatMap(({ machine }) => machine ?? []))]
  return blocks(
    [branchText(answer), found.join(', ')]
      .filter((part) => part !== '')
      .map((part) => `${part}.`)
      .join(' '),
    section(behind.length > 0 ? notLanded : 'Landed', table(columns, rows, page), page),
    tasks.some(({ is, lines, total }) => is === 'landed' && lines < total)
      ? 'A line that was changed or removed since its task ended is not counted.'
      : '',
    machines.length === 0
      ? ''
      : `Not measured here: tasks of ${joinNames(machines)}. Run git fetch and waymark landed there, or on a connected machine that has the merge.`,
    cutNote(tasks.length, tasks_total, 'waymark show <task> shows where its lines are.'),
    section(
      'Undone, so not followed',
      asked === undefined
        ? table(
            [{ title: 'task', shrinks: true }, { title: 'id' }],
            undone.map(({ id, name }) => [name, page.ink('dim', id)]),
            page,
          )
        : '',
      page,
    ),
    asked === undefined ? cutNote(undone.length, answer.undone_total, 'the others are not listed here.') : '',
  )
}

function branchText({ branch, tasks }: OutputOf<'measure_landed'>): string {
  if (branch !== null) return `Default branch: ${branch}`
  return tasks.every(({ machine }) => machine !== undefined) ? '' : 'No default branch was found'
}

function placeText({ machine, ...task }: OutputOf<'measure_landed'>['tasks'][number]): string {
  if (machine === undefined) return landingWords(task)
  return task.is === 'unknown'
    ? `not measured on ${machine}`
    : `${landingWords(task)}, as last measured on ${machine}`
}

/** `2 tasks landed`, for each state that a task is in. */
export function landedCounts(counts: OutputOf<'measure_landed'>['counts']): readonly string[] {
  return landedStates.flatMap((state) => {
    const many = counts[state] ?? 0
    return many === 0 ? [] : `${formatCount(many, 'task')} ${landedWords[state]}`
  })
}

import { age } from '../text/age.ts'
import { table } from '../text/table.ts'
import { entriesAt, numberAt, textAt } from './entry.ts'
import { nextPage } from './parts/next-page.ts'
import { blocks, cutNote } from './parts/sections.ts'
import { statusWord } from './parts/status-word.ts'
import type { View } from './view.ts'

const columns = [
  { title: 'run', shrinks: true },
  { title: 'process', shrinks: true },
  { title: 'state' },
  { title: 'status' },
  { title: 'rev', align: 'right' },
  { title: 'for' },
  { title: 'moved' },
] as const

export const runList: View = (answer, page) => {
  const runs = entriesAt(answer, 'runs')
  if (runs.length === 0) {
    return 'There are no such runs. waymark list-runs --status all shows every one; waymark create-run <process> begins one.'
  }
  const rows = runs.map((run) => [
    textAt(run, 'run_id'),
    textAt(run, 'process_id'),
    page.ink('bold', textAt(run, 'current_state')),
    statusWord(textAt(run, 'status'), page),
    textAt(run, 'revision'),
    textAt(run, 'task_id') || textAt(run, 'mission_id') || '–',
    age(textAt(run, 'updated_at'), page.now),
  ])
  return blocks(table(columns, rows, page), cutNote(runs.length, numberAt(answer, 'total'), nextPage(answer)))
}

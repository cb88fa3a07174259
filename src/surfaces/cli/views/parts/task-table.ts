import { age, lasting } from '../../text/age.ts'
import { table } from '../../text/table.ts'
import { type Entry, entryAt, numberAt, textAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { statusWord } from './status-word.ts'

/** Tasks, one a row. What was measured stands beside what the last attempt came to. */
export function taskTable(tasks: readonly Entry[], page: Page): string {
  const columns = [
    { title: 'id' },
    { title: 'task', shrinks: true },
    { title: 'status' },
    { title: 'agent' },
    { title: 'took' },
    { title: 'measured' },
  ]
  return table(
    columns,
    tasks.map((task) => [
      textAt(task, 'id'),
      textAt(task, 'name'),
      task['verified'] === false
        ? `${statusWord(textAt(task, 'status'), page)} (claimed)`
        : statusWord(textAt(task, 'status'), page),
      textAt(task, 'agent_name'),
      took(task, page),
      measuredInShort(task, page),
    ]),
    page,
  )
}

function took(task: Entry, page: Page): string {
  if (typeof task['duration_seconds'] === 'number') return lasting(task['duration_seconds'])
  const started = textAt(task, 'started_at')
  return started === '' ? '' : `began ${age(started, page.now)}`
}

function measuredInShort(task: Entry, { ink }: Page): string {
  const counts = entryAt(task, 'files_changed')
  if (!counts) return ''
  const files = ['added', 'modified', 'deleted', 'renamed'].reduce(
    (sum, kind) => sum + numberAt(counts, kind),
    0,
  )
  const scope = task['scope_match'] === false ? ink('red', ', out of scope') : ''
  return `${files === 1 ? '1 file' : `${files} files`}${scope}`
}

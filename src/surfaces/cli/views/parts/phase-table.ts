import { lasting } from '../../text/age.ts'
import { table } from '../../text/table.ts'
import { type Entry, numberAt, textAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { statusWord } from './status-word.ts'

export function phaseTable(phases: readonly Entry[], page: Page): string {
  const columns = [
    { title: 'phase', align: 'right' },
    { title: 'name', shrinks: true },
    { title: 'status' },
    { title: 'tasks', align: 'right' },
    { title: 'took' },
  ] as const
  const rows = phases.map((phase) => [
    textAt(phase, 'phase_number'),
    textAt(phase, 'name'),
    statusWord(textAt(phase, 'status'), page),
    textAt(phase, 'tasks_count'),
    lasting(numberAt(phase, 'duration_seconds')),
  ])
  return table(columns, rows, page)
}

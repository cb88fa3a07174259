import { table } from '../../text/table.ts'
import { type Entry, numberAt, textAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { statusWord } from './status-word.ts'

/** Missions, one a row: where each stands. */
export function missionTable(missions: readonly Entry[], page: Page): string {
  const columns = [
    { title: 'id' },
    { title: 'mission', shrinks: true },
    { title: 'status' },
    { title: 'phase' },
    { title: 'running', align: 'right' },
    { title: 'done', align: 'right' },
    { title: 'blockers', align: 'right' },
  ] as const
  const rows = missions.map((mission) => [
    textAt(mission, 'mission_id'),
    textAt(mission, 'name'),
    statusWord(textAt(mission, 'status'), page),
    `${numberAt(mission, 'current_phase')}/${numberAt(mission, 'total_phases')}`,
    textAt(mission, 'open_tasks'),
    textAt(mission, 'done_tasks'),
    blockers(numberAt(mission, 'open_blockers'), page),
  ])
  return table(columns, rows, page)
}

function blockers(count: number, { ink }: Page): string {
  return count === 0 ? '0' : ink('red', String(count))
}

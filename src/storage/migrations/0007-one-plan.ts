import type { Database } from 'better-sqlite3'
import { numbering } from '../tables/phase.ts'
import type { Migration } from './migrate.ts'

/** Every phase of a mission has a number, also those that were planned; a task may be for somebody. */
export const onePlan: Migration = {
  version: 7,
  title: 'one plan',
  destructive: false,
  statements: ['alter table task add column assignee text'],
  settle: numberPhases,
}

interface PhaseRow {
  readonly project_id: string
  readonly mission_id: string
  readonly id: string
  readonly number: number | null
}

/** In the order in which they were made, as the facts number them when they are applied again. */
function numberPhases(database: Database): void {
  const phases = database
    .prepare<unknown[], PhaseRow>(
      'select project_id, mission_id, id, number from phase where mission_id is not null order by project_id, seq',
    )
    .all()
  const missions = Map.groupBy(phases, (phase) => JSON.stringify([phase.project_id, phase.mission_id]))
  const update = database.prepare('update phase set number = ? where project_id = ? and id = ?')
  for (const [, list] of missions) {
    if (list.every(({ number }) => number !== null)) continue
    const taken = new Map<number, string>()
    for (const { id, number: asked } of list) {
      const { number, moved } = numbering(taken, asked)
      if (moved) taken.set(moved.number, moved.id)
      taken.set(number, id)
    }
    const numbers = new Map([...taken].map(([number, id]) => [id, number]))
    // Numbers are unique in a mission: they are given when no other phase has one.
    for (const { project_id, id } of list) update.run(null, project_id, id)
    for (const { project_id, id } of list) update.run(numbers.get(id), project_id, id)
  }
  // The place of tasks in lists: a phase without a sort order comes after those that have one, by its number.
  database.exec(`update task set order_phase = (
      select 9007199254740991 - 1000000 + phase.number from phase
      where phase.project_id = task.project_id and phase.id = task.phase_id)
    where exists (select 1 from phase
      where phase.project_id = task.project_id and phase.id = task.phase_id
        and phase.sort_order is null and phase.number is not null)`)
}

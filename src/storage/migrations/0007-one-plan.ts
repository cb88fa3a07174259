import { type QueryExecutorProvider, sql } from 'kysely'
import { numbering } from '../tables/phase.ts'
import type { Migration } from './migration.ts'

/** Every phase of a mission has a number, also those that were planned; a task may be for somebody. */
export const onePlan: Migration = {
  version: 7,
  title: 'one plan',
  destructive: false,
  statements: ({ text }) => [`alter table task add column assignee ${text}`],
  settle: numberPhases,
}

interface PhaseRow {
  readonly project_id: string
  readonly mission_id: string
  readonly id: string
  readonly number: number | null
}

/** In the order in which they were made, as the facts number them when they are applied again. */
async function numberPhases(db: QueryExecutorProvider): Promise<void> {
  const { rows: phases } = await sql<PhaseRow>`
    select project_id, mission_id, id, number from phase where mission_id is not null
    order by project_id, seq`.execute(db)
  const missions = Map.groupBy(phases, (phase) => JSON.stringify([phase.project_id, phase.mission_id]))
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
    for (const phase of list) await giveNumber(db, phase, null)
    for (const phase of list) await giveNumber(db, phase, numbers.get(phase.id) ?? null)
  }
  // The place of tasks in lists: a phase without a sort order comes after those that have one, by its number.
  await sql`update task set order_phase = (
      select 9007199254740991 - 1000000 + phase.number from phase
      where phase.project_id = task.project_id and phase.id = task.phase_id)
    where exists (select 1 from phase
      where phase.project_id = task.project_id and phase.id = task.phase_id
        and phase.sort_order is null and phase.number is not null)`.execute(db)
}

async function giveNumber(db: QueryExecutorProvider, phase: PhaseRow, number: number | null): Promise<void> {
  await sql`update phase set number = ${number}
    where project_id = ${phase.project_id} and id = ${phase.id}`.execute(db)
}

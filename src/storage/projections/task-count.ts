import { sql } from 'kysely'
import { ownPlan } from '../rows/own-plan.ts'
import type { TaskCountTable, TaskTable } from '../schema/task-tables.ts'
import type { Projecting } from './projecting.ts'

type Home = Pick<TaskTable, 'mission_id' | 'phase_id' | 'status'>
type Counted = Pick<TaskCountTable, 'kind' | 'place' | 'status' | 'tasks'>

/** Moves a task from where it was counted as at home to where it is now. */
export async function recountHome(
  { db, projectId }: Projecting,
  before: Home | null,
  after: Home,
): Promise<void> {
  const less = before === null ? [] : homes(before, -1)
  const more = homes(after, 1)
  const rows = [
    ...less.filter((row) => !more.some(isSame(row))),
    ...more.filter((row) => !less.some(isSame(row))),
  ]
  if (rows.length === 0) return
  await db
    .insertInto('task_count')
    .values(rows.map((row) => ({ project_id: projectId, ...row })))
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'kind', 'place', 'status'])
        .doUpdateSet({ tasks: sql<number>`task_count.tasks + excluded.tasks` }),
    )
    .execute()
}

function homes({ mission_id, phase_id, status }: Home, tasks: 1 | -1): readonly Counted[] {
  const plan: Counted = { kind: 'home', place: mission_id ?? ownPlan, status, tasks }
  return phase_id === null ? [plan] : [plan, { kind: 'home_phase', place: phase_id, status, tasks }]
}

function isSame(one: Counted): (other: Counted) => boolean {
  return (other) => one.kind === other.kind && one.place === other.place && one.status === other.status
}

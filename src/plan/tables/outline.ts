import { type RawBuilder, sql } from 'kysely'
import type { MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import { lateralLookup } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { PlanSpan } from '../domain/plan.ts'
import type { OutlineCount } from '../ports/plan-reads.ts'
import {
  inOpenPlan,
  listColumns,
  listOrder,
  openMissions,
  ownerCondition,
  phaseOfOpenMission,
  selectFirstTasks,
} from './plan-list.ts'
import { ownPlan } from './task-lists.ts'

interface CountRow {
  readonly place: string
  readonly status: string
  readonly tasks: number
}

/** From stored counts, without reading tasks. */
export async function outlineCounts(scope: ReadScope, span: PlanSpan): Promise<readonly OutlineCount[]> {
  const { db, projectId } = scope
  const counted = sql`select place, status, tasks from task_count where project_id = ${projectId} and tasks > 0`
  const phases = await sql<CountRow & { readonly mission_id: string | null }>`
    select counted.place, counted.status, counted.tasks, phase.mission_id from (${counted} and kind = 'home_phase') as counted
      join phase on phase.project_id = ${projectId} and phase.id = counted.place
      where ${span === 'open' ? phaseOfOpenMission(projectId) : ownerCondition(span)}`.execute(db)
  const plans = await sql<CountRow>`${counted} and kind = 'home' and ${placeIn(projectId, span)}`.execute(db)
  const counts = new Map<string, Counted>()
  const countOf = (missionId: string | null, phaseId: string | null): Counted => {
    const key = JSON.stringify([phaseId === null ? missionId : null, phaseId])
    const count = counts.get(key) ?? { missionId, phaseId, total: 0, done: 0, dropped: 0 }
    counts.set(key, count)
    return count
  }
  for (const { place, status, tasks } of plans.rows) {
    addTo(countOf(place === ownPlan ? null : place, null), status, tasks)
  }
  for (const { place, status, tasks, mission_id } of phases.rows) {
    addTo(countOf(mission_id, place), status, tasks)
    addTo(countOf(mission_id, null), status, -tasks)
  }
  return [...counts.values()].map(({ missionId, phaseId, ...count }) => ({
    missionId: missionId as MissionId | null, // a brand
    phaseId: phaseId as PhaseId | null, // a brand
    ...count,
  }))
}

interface Counted {
  readonly missionId: string | null
  readonly phaseId: string | null
  total: number
  done: number
  dropped: number
}

/** Dropped tasks are not part of the total. */
function addTo(count: Counted, status: string, tasks: number): void {
  if (status === 'dropped') count.dropped += tasks
  else count.total += tasks
  if (status === 'done') count.done += tasks
}

function placeIn(projectId: string, span: PlanSpan): RawBuilder<unknown> {
  if (span !== 'open') return sql`place = ${span ?? ownPlan}`
  return sql`place in (select ${ownPlan} union all ${openMissions(projectId)})`
}

function spanCondition(span: PlanSpan): RawBuilder<unknown> {
  return span === 'open' ? inOpenPlan : ownerCondition(span)
}

const waitingOrder = sql.raw(listColumns.map((column) => `waiting.${column}`).join(', '))

/** From the workable task with the longest chain of dependents, along the longest chain. One task is none. */
export async function longestChain(
  scope: ReadScope,
  span: PlanSpan,
  limit: number,
): Promise<readonly TaskId[]> {
  const { db, projectId } = scope
  const inSpan = sql`project_id = ${projectId} and ${spanCondition(span)}`
  const order = sql`height desc, ${listOrder}`
  const parts = [sql`${inSpan} and readiness = 'ready'`, sql`${inSpan} and readiness = 'in_progress'`]
  const [first] = await selectFirstTasks(scope, parts, { order, limit: 1 })
  if (first === undefined) return []
  const on = sql`waiting.project_id = ${projectId} and waiting.id = link.task_id`
  const { rows } = await sql<{ readonly id: TaskId }>`
    with recursive chain (id, place) as (
      select id, 1 from task where project_id = ${projectId} and id = ${first.id}
      union all
      select (select waiting.id from task_dependency as link ${lateralLookup(db, { table: 'task', as: 'waiting', on })}
          where link.project_id = ${projectId} and link.depends_on_id = chain.id
            and waiting.status <> 'done' and ${spanCondition(span)}
          order by waiting.height desc, ${waitingOrder} limit 1), place + 1
        from chain where chain.id is not null and place < ${limit})
    select id from chain where id is not null order by place`.execute(db)
  return rows.length > 1 ? rows.map(({ id }) => id) : []
}

/** The unfinished or unsettled tasks that each of some tasks waits for. */
export async function awaitedBy(
  { db, projectId }: ReadScope,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, readonly TaskId[]>> {
  if (taskIds.length === 0) return new Map()
  const on = sql`awaited.project_id = ${projectId} and awaited.id = link.depends_on_id`
  const { rows } = await sql<{ readonly task_id: string; readonly depends_on_id: TaskId }>`
    select link.task_id, link.depends_on_id
      from task_dependency as link ${lateralLookup(db, { table: 'task', as: 'awaited', on })}
      where link.project_id = ${projectId} and link.task_id in (${sql.join([...taskIds])})
        and (awaited.status <> 'done' or (coalesce(awaited.resolution, '') <> 'dropped' and awaited.open_items > 0))
      order by link.seq`.execute(db)
  const found = new Map<string, TaskId[]>()
  for (const { task_id, depends_on_id } of rows)
    found.set(task_id, [...(found.get(task_id) ?? []), depends_on_id])
  return found
}

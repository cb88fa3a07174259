import { type RawBuilder, sql } from 'kysely'
import type { PlanOwner } from '../../../domain/plan/plan.ts'
import type { PlanFilter } from '../../../ports/reads/plan-reads.ts'
import { ownPlan } from '../../rows/own-plan.ts'

type Condition = RawBuilder<unknown>

/** The column whose index leads to the tasks. */
export type Lead = 'phase_id' | 'milestone_id' | 'mission_id' | 'role' | 'claim_expires_at' | null

/** The column that leaves the fewest tasks. The project's own plan may be nearly all of them. */
export function leadOf({ phaseId, milestoneId, owner, role, unassigned }: PlanFilter): Lead {
  if (phaseId !== undefined) return 'phase_id'
  if (milestoneId !== undefined) return 'milestone_id'
  if (typeof owner === 'string' && owner !== 'open') return 'mission_id'
  if (role !== undefined || unassigned) return 'role'
  return owner === null ? 'mission_id' : null
}

/** What a filter asks of a task, whatever its state. */
export function planConditions(projectId: string, filter: PlanFilter, lead: Lead): readonly Condition[] {
  const { owner, phaseId, milestoneId, role, unassigned, search, ready, unblocked } = filter
  return [
    sql`project_id = ${projectId}`,
    ...ofSpan(projectId, owner, lead),
    ...equal('phase_id', phaseId, lead),
    ...equal('milestone_id', milestoneId, lead),
    ...equal('role', role, lead),
    ...(unassigned ? [lead === 'role' ? sql`role is null` : sql`coalesce(role, '') = ''`] : []),
    ...wordsOf(search).map(contains),
    ...(ready && owner !== 'open' ? [ofOpenMission(projectId)] : []),
    ...(unblocked ? [sql`(open_dependencies = 0 or status = 'done')`] : []),
  ]
}

function ofSpan(projectId: string, owner: PlanFilter['owner'], lead: Lead): readonly Condition[] {
  if (owner === undefined) return []
  if (owner === 'open') return [ofOpenMission(projectId)]
  return [lead === 'mission_id' ? ofOwner(owner) : hasOwner(owner)]
}

/** Tasks of the project's own plan, and of missions that take work: a workflow that ended by itself goes on with the next one. */
export function ofOpenMission(projectId: string): Condition {
  return sql`(mission_id is null or exists (select 1 from mission as around
    where around.project_id = ${projectId} and around.id = mission_id
      and (${hasNotEnded} or ${endedByItself} and task.status <> 'done')))`
}

/** Phases of the project's own plan, and of missions that have not ended. */
export function phaseOfOpenMission(projectId: string): Condition {
  return sql`(phase.mission_id is null or exists (select 1 from mission as around
    where around.project_id = ${projectId} and around.id = phase.mission_id
      and (${hasNotEnded} or ${endedByItself})))`
}

/** Counts of the same tasks. */
export function countsOfOpenMissions(projectId: string): Condition {
  return sql`(task_count.place = ${ownPlan} or exists (select 1 from mission as around
    where around.project_id = ${projectId} and around.id = task_count.place
      and (${hasNotEnded} or ${endedByItself} and task_count.status <> 'done')))`
}

const hasNotEnded = sql`around.status not in ('completed', 'failed', 'partial')`

const endedByItself = sql`around.kind = 'workflow' and around.summary is null`

export function ofOwner(owner: PlanOwner): Condition {
  return owner === null ? sql`mission_id is null` : sql`mission_id = ${owner}`
}

/** The same, as no index knows it: SQLite has no statistics here and would not know which index is the better one. */
export function hasOwner(owner: PlanOwner): Condition {
  return sql`coalesce(mission_id, '') = ${owner ?? ownPlan}`
}

function equal(column: string, value: string | undefined, lead: Lead): readonly Condition[] {
  if (value === undefined) return []
  return [
    lead === column ? sql`${sql.ref(column)} = ${value}` : sql`coalesce(${sql.ref(column)}, '') = ${value}`,
  ]
}

function wordsOf(search: string | undefined): readonly string[] {
  return (search ?? '').split(/\s+/).filter((word) => word !== '')
}

function contains(word: string): Condition {
  const pattern = `%${word.replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`
  return sql`(lower(name) like lower(${pattern}) escape '\\' or lower(goal) like lower(${pattern}) escape '\\')`
}

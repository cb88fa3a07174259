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
  if (typeof owner === 'string') return 'mission_id'
  if (role !== undefined || unassigned) return 'role'
  return owner === null ? 'mission_id' : null
}

/** What a filter asks of a task, whatever its state. */
export function planConditions(projectId: string, filter: PlanFilter, lead: Lead): readonly Condition[] {
  const { owner, phaseId, milestoneId, role, unassigned, search, ready, unblocked } = filter
  return [
    sql`project_id = ${projectId}`,
    ...(owner === undefined ? [] : [lead === 'mission_id' ? ofOwner(owner) : hasOwner(owner)]),
    ...equal('phase_id', phaseId, lead),
    ...equal('milestone_id', milestoneId, lead),
    ...equal('role', role, lead),
    ...(unassigned ? [lead === 'role' ? sql`role is null` : sql`coalesce(role, '') = ''`] : []),
    ...wordsOf(search).map(contains),
    ...(ready ? [ofOpenMission(projectId)] : []),
    ...(unblocked ? [sql`(open_dependencies = 0 or status = 'done')`] : []),
  ]
}

/** A mission that has ended takes no task, but a workflow goes on with the next one. */
export function ofOpenMission(projectId: string): Condition {
  return sql`(mission_id is null or exists (select 1 from mission as around
    where around.project_id = ${projectId} and around.id = mission_id
    and (around.kind = 'workflow' or around.status not in ('completed', 'failed', 'partial'))))`
}

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

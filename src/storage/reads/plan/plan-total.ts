import { type RawBuilder, sql } from 'kysely'
import type { PlanFilter } from '../../../ports/reads/plan-reads.ts'
import { ownPlan } from '../../rows/own-plan.ts'
import type { ReadScope } from '../scope.ts'
import { ofOwner, planConditions, planStates } from './plan-conditions.ts'

/** How many tasks a filter matches: from the counts that are kept, where they answer it. */
export async function planTotal(scope: ReadScope, filter: PlanFilter): Promise<number> {
  const { milestoneId, role, ready, blocked, unassigned, search } = filter
  const kept = milestoneId === undefined && role === undefined && search === undefined
  if (!kept || ready || blocked || unassigned) return countOf(scope, filter)
  const counted = await keptCount(scope, filter)
  if (filter.status === undefined || filter.status === 'done') return counted
  const expired = await expiredCount(scope, filter)
  return filter.status === 'to_do' ? counted + expired : counted - expired
}

async function keptCount({ db, projectId }: ReadScope, filter: PlanFilter): Promise<number> {
  const { owner, phaseId } = filter
  const { kind, place } = placeOf(projectId, filter)
  const row = await db
    .selectFrom('task_count')
    .select(sql<number>`coalesce(sum(tasks), 0)`.as('total'))
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .where('place', '=', place)
    .$if(filter.status !== undefined, (query) => query.where('status', '=', filter.status ?? ''))
    .$if(phaseId !== undefined && owner !== undefined, (query) =>
      query.where(sql<boolean>`exists (select 1 from phase
        where phase.project_id = task_count.project_id and phase.id = task_count.place
          and ${ofOwner(owner ?? null)})`),
    )
    .executeTakeFirstOrThrow()
  return row.total
}

function placeOf(projectId: string, { owner, phaseId }: PlanFilter) {
  if (phaseId !== undefined) return { kind: 'home_phase', place: phaseId } as const
  if (owner !== undefined) return { kind: 'home', place: owner ?? ownPlan } as const
  return { kind: 'project', place: projectId } as const
}

async function expiredCount(scope: ReadScope, filter: PlanFilter): Promise<number> {
  const matching = planConditions(scope.projectId, filter)
  return count(scope, sql`${matching} and claim_expires_at <= ${filter.now}`)
}

async function countOf(scope: ReadScope, filter: PlanFilter): Promise<number> {
  const matching = planConditions(scope.projectId, filter)
  let total = 0
  for (const state of planStates(filter)) total += await count(scope, sql`${matching} and ${state}`)
  return total
}

async function count({ db }: ReadScope, matching: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*) as total from task where ${matching}`.execute(
    db,
  )
  return rows[0]?.total ?? 0
}

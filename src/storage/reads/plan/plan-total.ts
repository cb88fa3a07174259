import { type RawBuilder, sql } from 'kysely'
import type { PlanFilter } from '../../../ports/reads/plan-reads.ts'
import { ownPlan } from '../../rows/own-plan.ts'
import type { ReadScope } from '../scope.ts'
import { countsOfOpenMissions, ofOwner, phaseOfOpenMission } from './plan-conditions.ts'
import { expiredPart, planParts } from './plan-parts.ts'

/** How many tasks a filter matches: from the counts that are kept, where they answer it. */
export async function planTotal(scope: ReadScope, filter: PlanFilter): Promise<number> {
  const { milestoneId, role, ready, blocked, unblocked, unassigned, search, status } = filter
  const isKept = milestoneId === undefined && role === undefined && search === undefined
  if (!isKept || ready || blocked || unblocked || unassigned)
    return countOf(scope, planParts(scope.projectId, filter))
  const kept = await keptCount(scope, filter)
  if (status === undefined || status === 'done') return kept
  const expired = await countOf(scope, [expiredPart(scope.projectId, filter)])
  return status === 'to_do' ? kept + expired : kept - expired
}

async function keptCount({ db, projectId }: ReadScope, filter: PlanFilter): Promise<number> {
  const { owner, phaseId, status } = filter
  const { kind, place } = placeOf(projectId, filter)
  const row = await db
    .selectFrom('task_count')
    .select(sql<number>`coalesce(sum(tasks), 0)`.as('total'))
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .$if(place !== null, (query) => query.where('place', '=', place ?? ''))
    .$if(place === null, (query) => query.where(sql<boolean>`${countsOfOpenMissions(projectId)}`))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .$if(phaseId !== undefined && owner !== undefined, (query) =>
      query.where(sql<boolean>`exists (select 1 from phase
        where phase.project_id = task_count.project_id and phase.id = task_count.place
          and ${owner === 'open' ? phaseOfOpenMission(projectId) : ofOwner(owner ?? null)})`),
    )
    .executeTakeFirstOrThrow()
  return row.total
}

function placeOf(projectId: string, { owner, phaseId }: PlanFilter) {
  if (phaseId !== undefined) return { kind: 'home_phase', place: phaseId } as const
  if (owner === 'open') return { kind: 'home', place: null } as const
  if (owner !== undefined) return { kind: 'home', place: owner ?? ownPlan } as const
  return { kind: 'project', place: projectId } as const
}

async function countOf({ db }: ReadScope, parts: readonly RawBuilder<unknown>[]): Promise<number> {
  if (parts.length === 0) return 0
  const counts = parts.map((part) => sql`(select count(*) from task where ${part})`)
  const { rows } = await sql<{ total: number }>`select ${sql.join(counts, sql` + `)} as total`.execute(db)
  return rows[0]?.total ?? 0
}

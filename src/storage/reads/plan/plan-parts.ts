import { type RawBuilder, sql } from 'kysely'
import type { PlanFilter } from '../../../ports/reads/plan-reads.ts'
import type { TaskTable } from '../../schema/task-tables.ts'
import { type Lead, leadOf, planConditions } from './plan-conditions.ts'

type Condition = RawBuilder<unknown>
type Standing = TaskTable['standing']

/** A task's place in the list. */
export type ListPlace = Pick<TaskTable, 'order_phase' | 'order_phase_seq' | 'order_own' | 'seq'>

export const listOrder = sql`order_phase, order_phase_seq, order_own, seq`

/** The tasks of a filter, in parts that share none and that an index finds, each in list order. */
export function planParts(
  projectId: string,
  filter: PlanFilter,
  behind: ListPlace | null = null,
): readonly Condition[] {
  const lead = leadOf(filter)
  const found = planConditions(projectId, filter, lead)
  const standings = standingsOf(filter).map((standing) =>
    all([...found, ...inStanding(standing, lead, filter), ...behindPlace(behind, lead)]),
  )
  return withExpired(filter) ? [...standings, expiredPart(projectId, filter, behind)] : standings
}

/** The tasks whose claim expired: they are to do, whatever their row says. */
export function expiredPart(
  projectId: string,
  filter: PlanFilter,
  behind: ListPlace | null = null,
): Condition {
  const lead = 'claim_expires_at'
  return all([
    ...planConditions(projectId, filter, lead),
    sql`claim_expires_at <= ${filter.now}`,
    ...(filter.ready ? [sql`open_dependencies = 0`] : []),
    ...(filter.blocked ? [sql`open_dependencies > 0`] : []),
    ...behindPlace(behind, lead),
  ])
}

/** Null is any. */
function standingsOf({ status, ready, blocked }: PlanFilter): readonly (Standing | null)[] {
  if (!ready && !blocked) {
    if (status === undefined) return [null]
    return status === 'to_do' ? ['ready', 'blocked'] : [status]
  }
  if ((ready && blocked) || (status !== undefined && status !== 'to_do')) return []
  return ready ? ['ready'] : ['blocked']
}

function withExpired({ status, ready, blocked }: PlanFilter): boolean {
  if (ready && blocked) return false
  return status === 'to_do' || (status === undefined && Boolean(ready || blocked))
}

// The text, not a parameter: only then does a partial index match.
const standingText = {
  ready: sql`'ready'`,
  blocked: sql`'blocked'`,
  in_progress: sql`'in_progress'`,
  done: sql`'done'`,
} as const satisfies Record<Standing, Condition>

function inStanding(standing: Standing | null, lead: Lead, { now }: PlanFilter): readonly Condition[] {
  if (standing === null) return []
  const indexed = lead === null || lead === 'mission_id'
  const column = indexed ? sql`standing` : sql`coalesce(standing, '')`
  const is = sql`${column} = ${standingText[standing]}`
  if (standing !== 'in_progress') return [is]
  return [is, sql`coalesce(claim_expires_at, ${now} + 1) > ${now}`]
}

function behindPlace(behind: ListPlace | null, lead: Lead): readonly Condition[] {
  if (behind === null) return []
  const place = [behind.order_phase, behind.order_phase_seq, behind.order_own, behind.seq]
  const order =
    lead === 'claim_expires_at' ? sql`order_phase + 0, order_phase_seq, order_own, seq` : listOrder
  return [sql`(${order}) > (${sql.join(place)})`]
}

function all(conditions: readonly Condition[]): Condition {
  return sql.join(conditions, sql` and `)
}

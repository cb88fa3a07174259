import { type RawBuilder, sql } from 'kysely'
import type { PlanOwner, TaskStatus } from '../../../domain/plan/plan.ts'
import type { PlanFilter } from '../../../ports/reads/plan-reads.ts'

export const listOrder = sql`order_phase, order_phase_seq, order_own, seq`

/** What a filter asks of a task, whatever its state. */
export function planConditions(projectId: string, filter: PlanFilter): RawBuilder<unknown> {
  const conditions = [
    sql`project_id = ${projectId}`,
    ...(filter.owner === undefined ? [] : [ofOwner(filter.owner)]),
    ...equal('phase_id', filter.phaseId),
    ...equal('milestone_id', filter.milestoneId),
    ...equal('role', filter.role),
    ...(filter.unassigned ? [sql`role is null`] : []),
    ...wordsOf(filter.search).map(contains),
  ]
  return sql.join(conditions, sql` and `)
}

export function ofOwner(owner: PlanOwner): RawBuilder<unknown> {
  return owner === null ? sql`mission_id is null` : sql`mission_id = ${owner}`
}

/** The states that a filter asks for, apart from each other, so that each is found in an index of its own. */
export function planStates({ status, ready, blocked, now }: PlanFilter): readonly RawBuilder<unknown>[] {
  if (ready || blocked) {
    if (status !== undefined && status !== 'to_do') return []
    if (ready && blocked) return []
    const waits = ready ? sql`open_dependencies = 0` : sql`open_dependencies > 0`
    return states.to_do(now).map((state) => sql`${state} and ${waits}`)
  }
  return status === undefined ? [sql`1 = 1`] : states[status](now)
}

// The text, not a parameter: only then does a partial index match. A claim that expired holds nothing.
const states = {
  to_do: (now) => [sql`status = 'to_do'`, sql`claim_expires_at <= ${now}`],
  in_progress: (now) => [
    sql`status = 'in_progress' and (claim_expires_at is null or claim_expires_at > ${now})`,
  ],
  done: () => [sql`status = 'done'`],
} as const satisfies Record<TaskStatus, (now: number) => readonly RawBuilder<unknown>[]>

function equal(column: string, value: string | undefined): readonly RawBuilder<unknown>[] {
  return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`]
}

function wordsOf(search: string | undefined): readonly string[] {
  return (search ?? '').split(/\s+/).filter((word) => word !== '')
}

function contains(word: string): RawBuilder<unknown> {
  const pattern = `%${word.replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`
  return sql`(lower(name) like lower(${pattern}) escape '\\' or lower(goal) like lower(${pattern}) escape '\\')`
}

import type { PhaseTable } from '../schema/mission-tables.ts'
import type { TaskTable } from '../schema/task-tables.ts'

type TaskOrder = Pick<TaskTable, 'order_phase' | 'order_phase_seq' | 'order_own'>
type OrderedPhase = Pick<PhaseTable, 'sort_order' | 'number' | 'seq'>

/** Behind every number that somebody could name: what has no order comes last. */
const last = Number.MAX_SAFE_INTEGER

/** More phases than a mission has. */
const mostNumbers = 1_000_000

/** Where people put a phase, then its number in the mission; phases without either follow in order of creation. */
export function phaseOrder({ sort_order, number }: Omit<OrderedPhase, 'seq'>): number {
  return sort_order ?? (number === null ? last : last - mostNumbers + number)
}

/** The phase's part of a task's place in lists; a task without a phase comes after all phases. */
export function placeByPhase(phase: OrderedPhase | null): Omit<TaskOrder, 'order_own'> {
  if (phase === null) return { order_phase: last, order_phase_seq: last }
  return { order_phase: phaseOrder(phase), order_phase_seq: phase.seq }
}

export function ownOrder(sortOrder: number | null): number {
  return sortOrder ?? last
}

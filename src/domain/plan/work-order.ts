import type { GraphTask } from './task-graph.ts'

type Ordered = Pick<GraphTask, 'id' | 'phaseOrder' | 'sortOrder' | 'createdOrder'>

/** Phase order, then sort order, then creation; the id decides the rest, so that every machine agrees. */
export function compareWork(one: Ordered, other: Ordered): number {
  return (
    compareOrder(one.phaseOrder, other.phaseOrder) ||
    compareOrder(one.sortOrder, other.sortOrder) ||
    one.createdOrder - other.createdOrder ||
    compareText(one.id, other.id)
  )
}

function compareOrder(one: number | null, other: number | null): number {
  if (one === other) return 0
  if (one === null) return 1
  return other === null ? -1 : one - other
}

function compareText(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

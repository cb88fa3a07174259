import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { WorkTreeWitness } from '../../ports/work-tree.ts'
import type { Neighbours } from './neighbours.ts'

/** The time between two neighbouring snapshots of a work tree: what it touched, and whose attempts were open. */
export interface MeasuredStretch {
  readonly touched: ReadonlySet<string> | null
  readonly open: readonly string[]
}

export interface Boundary {
  /** Milliseconds since the epoch; for a snapshot of now, when it was begun. */
  readonly at: number
  readonly place: SnapshotPlace
}

/** More boundaries than this are thinned out: the stretches get longer, never wrong. */
const mostBoundaries = 40

/** Splits an attempt's time at every start and completion of others in its work tree. Empty when it was alone. */
export async function neighbourhood(
  witness: WorkTreeWitness,
  attempt: Attempt,
  neighbours: Neighbours,
  end: Boundary,
): Promise<readonly MeasuredStretch[]> {
  const others = [...neighbours.values()].filter(({ id }) => id !== attempt.id)
  if (others.length === 0) return []
  const inside = others.flatMap(boundariesOf).filter(({ at }) => at > attempt.openedAt && at < end.at)
  inside.sort((a, b) => a.at - b.at)
  const step = Math.ceil(inside.length / mostBoundaries) || 1
  const bounds: readonly Boundary[] = [
    { at: attempt.openedAt, place: attempt.snapshot },
    ...inside.filter((_, index) => index % step === 0),
    { at: Number.MAX_SAFE_INTEGER, place: end.place },
  ]
  const pairs = bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? to, to }))
  return Promise.all(
    pairs.map(async ({ from, to }) => {
      const touched = await witness.touched(from.place, to.place)
      return { touched: touched === null ? null : new Set(touched), open: openDuring(neighbours, from, to) }
    }),
  )
}

function boundariesOf(attempt: Attempt): readonly Boundary[] {
  const start = { at: attempt.openedAt, place: attempt.snapshot }
  if (attempt.closedAt === null || attempt.endSnapshot === null) return [start]
  return [start, { at: attempt.closedAt, place: attempt.endSnapshot }]
}

/** Open at any time of the stretch: with thinned boundaries an attempt may have begun inside it. */
function openDuring(neighbours: Neighbours, from: Boundary, to: Boundary): readonly string[] {
  return [...neighbours.values()]
    .filter(({ openedAt, closedAt }) => openedAt < to.at && (closedAt === null || closedAt > from.at))
    .map(({ id }) => id)
}

/** Who was open at a moment that is known to the second, in milliseconds since the epoch. */
export function openAt(neighbours: Neighbours, at: number): readonly string[] {
  return [...neighbours.values()]
    .filter(({ openedAt, closedAt }) => openedAt < at + 1000 && (closedAt === null || closedAt >= at))
    .map(({ id }) => id)
}

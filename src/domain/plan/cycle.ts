/** What each task depends on. */
export type Dependencies<Id extends string = string> = ReadonlyMap<Id, readonly Id[]>

/**
 * The cycle that "from depends on to" would close, beginning and ending with `from`, or null. The shortest one is
 * answered, because a person has to read it.
 */
export function findCycle<Id extends string>(
  edges: Dependencies<Id>,
  from: Id,
  to: Id,
): readonly Id[] | null {
  if (from === to) return [from, to]
  const cameFrom = new Map<Id, Id | null>([[to, null]])
  const queue = [to]
  for (const id of queue) {
    for (const next of edges.get(id) ?? []) {
      if (cameFrom.has(next)) continue
      cameFrom.set(next, id)
      if (next === from) return [from, ...wayTo(from, cameFrom)]
      queue.push(next)
    }
  }
  return null
}

export function cycleText(cycle: readonly string[]): string {
  return cycle.join(' → ')
}

function wayTo<Id extends string>(end: Id, cameFrom: ReadonlyMap<Id, Id | null>): readonly Id[] {
  const way: Id[] = []
  for (let id: Id | null | undefined = end; id; id = cameFrom.get(id)) way.push(id)
  return way.reverse()
}

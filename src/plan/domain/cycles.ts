/** What each task depends on. */
export type Dependencies<Id extends string = string> = ReadonlyMap<Id, readonly Id[]>

export function cycleText(cycle: readonly string[]): string {
  return cycle.join(' → ')
}

/**
 * Cycles among dependencies, each beginning and ending with the same id; no id is in two of them. Empty exactly when
 * there is no cycle. At most `limit` are named.
 */
export function everyCycle(edges: Dependencies, limit: number): readonly (readonly string[])[] {
  const open = new Map([...edges].map(([id, ids]) => [id, new Set(ids.filter((to) => edges.has(to)))]))
  const dependents = Map.groupBy(pairs(open), ({ to }) => to)
  const free = [...open.keys()].filter((id) => open.get(id)?.size === 0)
  const cycles: (readonly string[])[] = []
  for (;;) {
    for (let id = free.pop(); id !== undefined; id = free.pop()) {
      open.delete(id)
      for (const { from } of dependents.get(id) ?? []) {
        const left = open.get(from)
        if (left?.delete(id) && left.size === 0) free.push(from)
      }
    }
    const [start] = open.keys()
    if (start === undefined || cycles.length === limit) return cycles
    const cycle = walkToCycle(open, start)
    cycles.push(cycle)
    for (const id of new Set(cycle)) free.push(id)
  }
}

function pairs(
  edges: ReadonlyMap<string, ReadonlySet<string>>,
): readonly { readonly from: string; readonly to: string }[] {
  return [...edges].flatMap(([from, ids]) => [...ids].map((to) => ({ from, to })))
}

/** Everything left waits for something left, so that a walk comes back to where it has been. */
function walkToCycle(open: ReadonlyMap<string, ReadonlySet<string>>, start: string): readonly string[] {
  const way: string[] = []
  const seen = new Map<string, number>()
  for (let id: string | undefined = start; id !== undefined; [id] = open.get(id) ?? []) {
    const first = seen.get(id)
    if (first !== undefined) return [...way.slice(first), id]
    seen.set(id, way.length)
    way.push(id)
  }
  return way
}

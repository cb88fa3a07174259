/** The dependencies of each task. */
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
        const remaining = open.get(from)
        if (remaining?.delete(id) && remaining.size === 0) free.push(from)
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

/** Every remaining node has a remaining dependency, so a walk must reach a visited node. */
function walkToCycle(open: ReadonlyMap<string, ReadonlySet<string>>, start: string): readonly string[] {
  const path: string[] = []
  const seen = new Map<string, number>()
  for (let id: string | undefined = start; id !== undefined; [id] = open.get(id) ?? []) {
    const first = seen.get(id)
    if (first !== undefined) return [...path.slice(first), id]
    seen.set(id, path.length)
    path.push(id)
  }
  return path
}

/**
 * Aligns two sequences: for each element of the first the index of its equal in the second, or -1; both rise. It is a
 * longest common subsequence, unless so many elements are equal that only the rarer ones are compared first. Anchors
 * that the second has once are aligned before the other elements.
 */
export function align(
  first: readonly string[],
  second: readonly string[],
  anchors: ReadonlySet<string> = new Set(),
): Int32Array {
  const pairs = new Int32Array(first.length).fill(-1)
  const whole: AlignmentRange = { from: 0, to: first.length, start: 0, end: second.length }
  const places = anchors.size === 0 ? new Map<string, number[]>() : placesIn(second, whole)
  const fixed = maxRiseLength(first, whole, (element) => {
    const found = anchors.has(element) ? places.get(element) : undefined
    return found?.length === 1 ? found : undefined
  })
  for (const [at, to] of fixed) pairs[at] = to
  const work = partsBetween(fixed, whole)
  for (let part = work.pop(); part !== undefined; part = work.pop()) {
    for (const inner of alignPart({ first, second, pairs }, part)) work.push(inner)
  }
  return pairs
}

interface AlignmentInput {
  readonly first: readonly string[]
  readonly second: readonly string[]
  readonly pairs: Int32Array
}

/** A part of both: `from` and `to` in the first, `start` and `end` in the second. */
interface AlignmentRange {
  readonly from: number
  readonly to: number
  readonly start: number
  readonly end: number
}

const maxMatches = 400_000

/** Returns the parts that are still to be aligned. */
function alignPart(
  { first, second, pairs }: AlignmentInput,
  whole: AlignmentRange,
): readonly AlignmentRange[] {
  const part = trimCommonEnds({ first, second, pairs }, whole)
  const places = placesIn(second, part)
  const { wanted, isAll } = chooseAnchors(first, part, places)
  const anchors = maxRiseLength(first, part, (element) =>
    wanted.has(element) ? places.get(element) : undefined,
  )
  for (const [at, to] of anchors) pairs[at] = to
  if (isAll) return []
  if (anchors.length === 0) {
    alignGreedily({ first, second, pairs }, part)
    return []
  }
  return partsBetween(anchors, part)
}

function partsBetween(
  aligned: readonly (readonly [number, number])[],
  part: AlignmentRange,
): AlignmentRange[] {
  const parts: AlignmentRange[] = []
  let { from, start } = part
  for (const [at, to] of [...aligned, [part.to, part.end] as const]) {
    if (from < at && start < to) parts.push({ from, to: at, start, end: to })
    from = at + 1
    start = to + 1
  }
  return parts
}

function trimCommonEnds(
  { first, second, pairs }: AlignmentInput,
  { from, to, start, end }: AlignmentRange,
): AlignmentRange {
  let low = 0
  while (from + low < to && start + low < end && first[from + low] === second[start + low]) {
    pairs[from + low] = start + low
    low += 1
  }
  let high = 0
  while (
    to - high > from + low &&
    end - high > start + low &&
    first[to - high - 1] === second[end - high - 1]
  ) {
    high += 1
    pairs[to - high] = end - high
  }
  return { from: from + low, to: to - high, start: start + low, end: end - high }
}

function placesIn(second: readonly string[], { start, end }: AlignmentRange): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (let at = start; at < end; at += 1) {
    const element = second[at] ?? ''
    const list = places.get(element)
    if (list === undefined) places.set(element, [at])
    else list.push(at)
  }
  return places
}

/** The elements that are cheap enough to compare in all pairs, the rarest first. */
function chooseAnchors(
  first: readonly string[],
  { from, to }: AlignmentRange,
  places: ReadonlyMap<string, readonly number[]>,
): { readonly wanted: ReadonlySet<string>; readonly isAll: boolean } {
  const counts = new Map<string, number>()
  for (let at = from; at < to; at += 1) {
    const element = first[at] ?? ''
    if (places.has(element)) counts.set(element, (counts.get(element) ?? 0) + 1)
  }
  const costs = [...counts].map(([element, count]) => ({
    element,
    cost: count * (places.get(element)?.length ?? 0),
  }))
  costs.sort((a, b) => a.cost - b.cost)
  const wanted = new Set<string>()
  let total = 0
  for (const { element, cost } of costs) {
    total += cost
    if (total > maxMatches) return { wanted, isAll: false }
    wanted.add(element)
  }
  return { wanted, isAll: true }
}

/** The longest rising sequence of equal pairs, by Hunt and Szymanski. */
function maxRiseLength(
  first: readonly string[],
  { from, to }: AlignmentRange,
  placesOf: (element: string) => readonly number[] | undefined,
): readonly (readonly [number, number])[] {
  // For each length, the node of the sequence that ends lowest in the second.
  const ends: number[] = []
  const nodes: { readonly at: number; readonly to: number; readonly before: number }[] = []
  const endsAt: number[] = []
  for (let at = from; at < to; at += 1) {
    const places = placesOf(first[at] ?? '')
    if (places === undefined) continue
    for (let index = places.length - 1; index >= 0; index -= 1) {
      const place = places[index] ?? 0
      const length = lowerBound(endsAt, place)
      if (endsAt[length] === place) continue
      nodes.push({ at, to: place, before: length === 0 ? -1 : (ends[length - 1] ?? -1) })
      ends[length] = nodes.length - 1
      endsAt[length] = place
    }
  }
  const sequence: (readonly [number, number])[] = []
  for (let node = nodes[ends.at(-1) ?? -1]; node !== undefined; node = nodes[node.before]) {
    sequence.push([node.at, node.to])
  }
  return sequence.reverse()
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

function alignGreedily(
  { first, second, pairs }: AlignmentInput,
  { from, to, start, end }: AlignmentRange,
): void {
  const places = placesIn(second, { from, to, start, end })
  let least = start
  for (let at = from; at < to; at += 1) {
    const list = places.get(first[at] ?? '')
    const place = list?.[lowerBound(list, least)]
    if (place === undefined) continue
    pairs[at] = place
    least = place + 1
  }
}

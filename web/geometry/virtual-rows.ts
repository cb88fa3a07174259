/** Rows of different heights below each other: `tops[i]` is where row i begins, and the last entry is the end. */
export interface RowTops {
  readonly tops: readonly number[]
}

export function rowTops(heights: readonly number[]): RowTops {
  const tops = [0]
  for (const height of heights) tops.push((tops.at(-1) ?? 0) + height)
  return { tops }
}

/** The rows that are seen, and some before and behind: `first` included, `end` not. */
export interface RowWindow {
  readonly first: number
  readonly end: number
}

export function rowWindow(
  { tops }: RowTops,
  { top, height, spare = 240 }: { readonly top: number; readonly height: number; readonly spare?: number },
): RowWindow {
  const rows = tops.length - 1
  const first = Math.max(countUpTo(tops, top - spare) - 1, 0)
  const end = Math.min(Math.max(countUpTo(tops, top + height + spare), first), rows)
  return { first: Math.min(first, rows), end }
}

/** The row at a height, or null above and below all rows. */
export function rowAt({ tops }: RowTops, y: number): number | null {
  const row = countUpTo(tops, y) - 1
  return row >= 0 && row < tops.length - 1 ? row : null
}

/** How far to scroll so that a row is seen entirely, moving as little as possible. */
export function scrollTo(
  { tops }: RowTops,
  row: number,
  { top, height }: { readonly top: number; readonly height: number },
): number {
  const [begin, end] = [tops[row] ?? 0, tops[row + 1] ?? 0]
  if (begin < top) return begin
  return end > top + height ? end - height : top
}

/** How many of ascending numbers are at most a limit. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

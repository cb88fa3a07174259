/** A stretch of time in milliseconds since the epoch. */
export interface Interval {
  readonly from: number
  readonly to: number
}

/** The stretches of a timeline follow each other without a hole. Nothing happened in an idle one. */
export interface Stretch extends Interval {
  readonly idle: boolean
}

/** Idle stretches at least this long are folded, in milliseconds. */
const foldedFrom = 20 * 60_000

/** Divides the time from the first to the last busy interval. Each busy stretch keeps `margin` of quiet around it. */
export function stretchesOf(
  busy: readonly Interval[],
  { idleFrom = foldedFrom, margin = 60_000 }: { readonly idleFrom?: number; readonly margin?: number } = {},
): readonly Stretch[] {
  const found: Stretch[] = []
  for (const interval of busy.toSorted((a, b) => a.from - b.from)) {
    const [from, to] = [interval.from - margin, Math.max(interval.to, interval.from) + margin]
    const last = found.at(-1)
    if (!last) {
      found.push({ from, to, idle: false })
    } else if (from - last.to < idleFrom) {
      found[found.length - 1] = { ...last, to: Math.max(last.to, to) }
    } else {
      found.push({ from: last.to, to: from, idle: true }, { from, to, idle: false })
    }
  }
  return found
}

/** The same time with nothing folded. */
export function unfolded(stretches: readonly Stretch[]): readonly Stretch[] {
  const [first, last] = [stretches.at(0), stretches.at(-1)]
  return first && last ? [{ from: first.from, to: last.to, idle: false }] : []
}

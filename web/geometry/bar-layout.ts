import { contentX, type TimeScale } from './time-scale.ts'

/** What a bar is drawn for. An open span ends now. */
export interface Span {
  readonly id: string
  readonly from: number
  readonly to: number | null
}

/** A bar of one row, in pixels from the beginning of the time. Several spans too narrow to tell apart share one. */
export interface Bar<S extends Span> {
  readonly spans: readonly S[]
  readonly x: number
  readonly width: number
  readonly running: boolean
}

export interface BarRules {
  /** Milliseconds since the epoch; where open spans end. */
  readonly now: number
  readonly least?: number
  readonly gap?: number
}

/**
 * The bars of a row, left to right. None overlaps another, none is narrower than `least`, and each begins at most
 * `least` behind its time.
 */
export function layoutBars<S extends Span>(
  spans: readonly S[],
  scale: TimeScale,
  rules: BarRules,
): readonly Bar<S>[] {
  const { now, least = 6, gap = 1 } = rules
  const bars: (Bar<S> & { readonly spans: S[] })[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const begin = contentX(scale, span.from)
    const end = contentX(scale, Math.max(span.to ?? now, span.from))
    const last = bars.at(-1)
    const free = last ? last.x + last.width + gap : begin
    const running = span.to === null
    if (last && free - begin > least) {
      last.spans.push(span)
      const width = Math.max(last.width, end - last.x)
      bars[bars.length - 1] = { ...last, width, running: last.running || running }
    } else {
      const x = Math.max(begin, free)
      bars.push({ spans: [span], x, width: Math.max(end - x, least), running })
    }
  }
  return bars
}

/** The bars that are at least partly between two pixels: a binary search, because bars are in order. */
export function barsWithin<S extends Span>(
  bars: readonly Bar<S>[],
  from: number,
  to: number,
): readonly Bar<S>[] {
  let [low, high] = [0, bars.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const bar = bars[middle]
    if (bar && bar.x + bar.width < from) low = middle + 1
    else high = middle
  }
  let end = low
  while (end < bars.length && (bars[end]?.x ?? 0) <= to) end += 1
  return bars.slice(low, end)
}

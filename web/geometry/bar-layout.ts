import { contentX, type TimeScale } from './time-scale.ts'

/** What a bar is drawn for. An open span ends now. */
export interface BarSpan {
  readonly id: string
  readonly from: number
  readonly to: number | null
}

/** A bar of one row, in pixels from the beginning of the time. Several spans too narrow to tell apart share one. */
export interface Bar<S extends BarSpan> {
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
export function layoutBars<S extends BarSpan>(
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
export function barsWithin<S extends BarSpan>(
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

/** Where a bar's texts go, in pixels; null where there is no room. */
export interface BarLabel {
  /** The text in the bar, or behind it when the bar is too narrow. */
  readonly main: { readonly x: number; readonly inside: boolean } | null
  readonly detail: { readonly x: number; readonly isShort: boolean } | null
}

export interface LabelledBar {
  readonly x: number
  readonly width: number
  /** Widths of the two texts; 0 for none. */
  readonly main: number
  readonly detail: number
  /** The width of the second text where it has no room whole. */
  readonly short?: number
}

export interface LabelRoom {
  /** What is shown, in the pixels of the bars. */
  readonly from: number
  readonly to: number
  /** Places of signs on the row, left to right: no text lies over one. */
  readonly marks: readonly number[]
}

const padding = 7
/** How far a sign reaches to the left and, with its count, to the right. */
const beforeMark = 8
const behindMark = 13

/** The texts of a row's bars: inside while they fit, else behind, and never over another bar or a sign. */
export function placeLabels(bars: readonly LabelledBar[], room: LabelRoom): readonly BarLabel[] {
  return bars.map((bar, place) => {
    const next = bars[place + 1]?.x ?? Number.POSITIVE_INFINITY
    return placeLabel(bar, room, Math.min(next, room.to))
  })
}

function placeLabel(bar: LabelledBar, room: LabelRoom, limit: number): BarLabel {
  const end = bar.x + bar.width
  const inX = positionClearOfMarks(room.marks, Math.max(bar.x, room.from) + padding, bar.main)
  const inside = bar.main > 0 && inX + bar.main + padding <= Math.min(end, room.to)
  let x = end + padding
  const free = (width: number): boolean => {
    if (width === 0) return false
    x = positionClearOfMarks(room.marks, x, width)
    return x >= room.from && x + width <= limit
  }
  const behind = !inside && free(bar.main)
  const main = inside ? { x: inX, inside: true } : behind ? { x, inside: false } : null
  if (behind) x += bar.main + padding
  const start = x
  if (free(bar.detail)) return { main, detail: { x, isShort: false } }
  x = start
  return { main, detail: free(bar.short ?? 0) ? { x, isShort: true } : null }
}

/** The first place from `x` on where a text of this width lies over no sign. */
function positionClearOfMarks(marks: readonly number[], from: number, width: number): number {
  let x = from
  for (const mark of marks) if (mark + behindMark > x && mark - beforeMark < x + width) x = mark + behindMark
  return x
}

/** What is marked on a row, in the order of what a reader must not miss. */
export const markKinds = ['issue', 'decision', 'progress'] as const
export type MarkKind = (typeof markKinds)[number]

export interface BarMark {
  readonly kind: MarkKind
  readonly at: number
}

/** One sign for all marks that would lie on each other. */
export interface PositionedMark<M extends BarMark> {
  readonly x: number
  /** The kind that matters most among the marks. */
  readonly kind: MarkKind
  readonly marks: readonly M[]
}

/** The width that a sign with a count takes, in pixels. */
export const markWidth = 16

/** The signs of a row, left to right, at least `markWidth` apart. */
export function layoutMarks<M extends BarMark>(
  marks: readonly M[],
  scale: TimeScale,
): readonly PositionedMark<M>[] {
  const placed: { x: number; marks: M[] }[] = []
  for (const mark of marks.toSorted((a, b) => a.at - b.at)) {
    const x = contentX(scale, mark.at)
    const last = placed.at(-1)
    if (last && x - last.x < markWidth) last.marks.push(mark)
    else placed.push({ x, marks: [mark] })
  }
  return placed.map(({ x, marks: together }) => ({ x, kind: gravestMark(together), marks: together }))
}

function gravestMark(marks: readonly BarMark[]): MarkKind {
  return markKinds.find((kind) => marks.some((mark) => mark.kind === kind)) ?? 'progress'
}

/** Where a bar's texts go, in pixels; null where there is no room. */
export interface BarLabel {
  /** The text in the bar, or behind it when the bar is too narrow. */
  readonly main: { readonly x: number; readonly inside: boolean } | null
  readonly detail: { readonly x: number } | null
}

export interface LabelledBar {
  readonly x: number
  readonly width: number
  /** Widths of the two texts; 0 for none. */
  readonly main: number
  readonly detail: number
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
  const inX = clearOf(room.marks, Math.max(bar.x, room.from) + padding, bar.main)
  const inside = bar.main > 0 && inX + bar.main + padding <= Math.min(end, room.to)
  let x = end + padding
  const free = (width: number): boolean => {
    if (width === 0) return false
    x = clearOf(room.marks, x, width)
    return x >= room.from && x + width <= limit
  }
  const behind = !inside && free(bar.main)
  const main = inside ? { x: inX, inside: true } : behind ? { x, inside: false } : null
  if (behind) x += bar.main + padding
  return { main, detail: free(bar.detail) ? { x } : null }
}

/** The first place from `x` on where a text of this width lies over no sign. */
function clearOf(marks: readonly number[], from: number, width: number): number {
  let x = from
  for (const mark of marks) if (mark + behindMark > x && mark - beforeMark < x + width) x = mark + behindMark
  return x
}

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
  /** Places of signs on the row: no text lies over one. */
  readonly marks: readonly number[]
}

const padding = 7
const halfMark = 8

/** The texts of a row's bars: inside while they fit, else behind, and never over another bar or a sign. */
export function placeLabels(bars: readonly LabelledBar[], room: LabelRoom): readonly BarLabel[] {
  return bars.map((bar, place) => {
    const next = bars[place + 1]?.x ?? Number.POSITIVE_INFINITY
    return placeLabel(bar, room, Math.min(next, room.to))
  })
}

function placeLabel(bar: LabelledBar, room: LabelRoom, limit: number): BarLabel {
  const end = bar.x + bar.width
  const seenFrom = Math.max(bar.x, room.from) + padding
  const clear = room.marks.find((x) => x + halfMark > seenFrom && x - halfMark < seenFrom + bar.main)
  const inside =
    bar.main > 0 && clear === undefined && seenFrom + bar.main + padding <= Math.min(end, room.to)
  let x = end + padding
  const free = (width: number): boolean =>
    width > 0 &&
    x >= room.from &&
    x + width <= limit &&
    !room.marks.some((mark) => mark + halfMark > x && mark - halfMark < x + width)
  const behind = !inside && free(bar.main)
  const main = inside ? { x: seenFrom, inside: true } : behind ? { x, inside: false } : null
  if (behind) x += bar.main + padding
  return { main, detail: free(bar.detail) ? { x } : null }
}

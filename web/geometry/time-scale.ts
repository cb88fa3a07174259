import type { Stretch } from './time-fold.ts'

/** The width of a folded stretch, in pixels. */
export const foldWidth = 28

/** Where a timeline is looked at: pixels per millisecond, and how many pixels lie left of what is shown. */
export interface View {
  readonly perMs: number
  readonly left: number
}

/** A stretch with its place; `x` counts from the beginning of the whole time, whatever is shown. */
export interface Piece extends Stretch {
  readonly x: number
  readonly width: number
  /** Drawn narrower than its time. */
  readonly folded: boolean
}

/** Time to pixels and back: monotone, without holes, and as fast as a binary search. */
export interface TimeScale extends View {
  readonly pieces: readonly Piece[]
  readonly width: number
}

export function timeScale(stretches: readonly Stretch[], { perMs, left }: View): TimeScale {
  const pieces: Piece[] = []
  let x = 0
  for (const stretch of stretches) {
    const natural = (stretch.to - stretch.from) * perMs
    const folded = stretch.idle && natural > foldWidth
    const width = folded ? foldWidth : natural
    pieces.push({ ...stretch, x, width, folded })
    x += width
  }
  return { pieces, width: x, perMs, left }
}

/** The pixel of a time, counted from the left of what is shown. */
export function xOf(scale: TimeScale, at: number): number {
  return contentX(scale, at) - scale.left
}

/** The pixel of a time, counted from the beginning of the whole time. */
export function contentX(scale: TimeScale, at: number): number {
  const piece = lastPiece(scale.pieces, ({ from }) => from <= at)
  if (!piece) return 0
  const beyond = at < piece.from || at > piece.to
  if (beyond)
    return at < piece.from
      ? (at - piece.from) * scale.perMs
      : piece.x + piece.width + (at - piece.to) * scale.perMs
  return piece.x + (at - piece.from) * rateOf(piece, scale.perMs)
}

/** The time at a pixel, counted from the left of what is shown. */
export function timeAt(scale: TimeScale, x: number): number {
  const content = x + scale.left
  const piece = lastPiece(scale.pieces, (one) => one.x <= content)
  if (!piece) return 0
  if (content < 0) return piece.from + content / scale.perMs
  const over = content - piece.x - piece.width
  if (over > 0) return piece.to + over / scale.perMs
  return piece.from + (content - piece.x) / rateOf(piece, scale.perMs)
}

function rateOf(piece: Piece, perMs: number): number {
  return piece.to === piece.from ? perMs : piece.width / (piece.to - piece.from)
}

/** The last piece that begins early enough; the first one when none does. */
function lastPiece(pieces: readonly Piece[], begun: (piece: Piece) => boolean): Piece | undefined {
  let [low, high] = [0, pieces.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const piece = pieces[middle]
    if (piece && begun(piece)) low = middle
    else high = middle - 1
  }
  return pieces[low]
}

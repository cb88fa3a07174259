/** The width of a folded stretch, in pixels. */
export const foldWidth = 28

/** Where a timeline is looked at: pixels per millisecond, and how many pixels lie left of what is shown. */
export interface TimelineViewport {
  readonly perMs: number
  readonly left: number
}

/** A stretch with its place; `x` counts from the beginning of the whole time, whatever is shown. */
export interface TimelinePiece extends TimelineInterval {
  readonly x: number
  readonly width: number
  /** Drawn narrower than its time. */
  readonly folded: boolean
}

/** Time to pixels and back: monotone, without holes, and as fast as a binary search. */
export interface TimeScale extends TimelineViewport {
  readonly pieces: readonly TimelinePiece[]
  readonly width: number
}

export function timeScale(
  intervals: readonly TimelineInterval[],
  { perMs, left }: TimelineViewport,
): TimeScale {
  const pieces: TimelinePiece[] = []
  let x = 0
  for (const interval of intervals) {
    const natural = (interval.to - interval.from) * perMs
    const folded = interval.idle && natural > foldWidth
    const width = folded ? foldWidth : natural
    pieces.push({ ...interval, x, width, folded })
    x += width
  }
  return { pieces, width: x, perMs, left }
}

/** The pixel of a time, counted from the left of what is shown. */
export function viewX(scale: TimeScale, at: number): number {
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

function rateOf(piece: TimelinePiece, perMs: number): number {
  return piece.to === piece.from ? perMs : piece.width / (piece.to - piece.from)
}

/** The last piece that begins early enough; the first one when none does. */
function lastPiece(
  pieces: readonly TimelinePiece[],
  hasBegun: (piece: TimelinePiece) => boolean,
): TimelinePiece | undefined {
  let [low, high] = [0, pieces.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const piece = pieces[middle]
    if (piece && hasBegun(piece)) low = middle
    else high = middle - 1
  }
  return pieces[low]
}

/** A stretch of time in milliseconds since the epoch. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** The stretches of a timeline follow each other without a hole. Nothing happened in an idle one. */
export interface TimelineInterval extends TimeRange {
  readonly idle: boolean
}

/** Idle stretches at least this long are folded, in milliseconds. */
const foldedFrom = 20 * 60_000

/** Divides the time from the first to the last busy interval. Each busy stretch keeps `margin` of quiet around it. */
export function intervalsOf(
  busy: readonly TimeRange[],
  { idleFrom = foldedFrom, margin = 60_000 }: { readonly idleFrom?: number; readonly margin?: number } = {},
): readonly TimelineInterval[] {
  const found: TimelineInterval[] = []
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
export function unfoldIntervals(intervals: readonly TimelineInterval[]): readonly TimelineInterval[] {
  const [first, last] = [intervals.at(0), intervals.at(-1)]
  return first && last ? [{ from: first.from, to: last.to, idle: false }] : []
}

/** Most pixels that a millisecond may have: 60 for a second. */
const closest = 0.06

/** The view that shows all of the time in a width, with `after` pixels free behind it. */
export function fitView(intervals: readonly TimelineInterval[], width: number, after = 0): TimelineViewport {
  const room = Math.max(width - after, foldWidth)
  const idle = intervals.filter((interval) => interval.idle).map(({ from, to }) => to - from)
  const longest = idle.toSorted((a, b) => b - a)
  const total = intervals.reduce((sum, { from, to }) => sum + to - from, 0)
  let [rest, folds] = [total, 0]
  let perMs = room / Math.max(rest, 1)
  // Each stretch that folds leaves more room to the others, so that shorter ones come to fold too.
  for (const duration of longest) {
    if (duration * perMs <= foldWidth) break
    rest -= duration
    folds += 1
    perMs = Math.max(room - folds * foldWidth, foldWidth) / Math.max(rest, 1)
  }
  return { perMs: Math.min(perMs, closest), left: 0 }
}

/** Nearer by a factor above 1, farther by one below, with the time under `x` staying there. */
export function zoomAroundPoint(
  intervals: readonly TimelineInterval[],
  scale: TimeScale,
  { x, factor }: { readonly x: number; readonly factor: number },
): TimelineViewport {
  const farthest = fitView(intervals, 200).perMs
  const perMs = Math.min(Math.max(scale.perMs * factor, farthest), closest)
  const held = timeAt(scale, x)
  return { perMs, left: contentX(timeScale(intervals, { perMs, left: 0 }), held) - x }
}

/** A view that does not leave the time: at least half the width stays filled where there is enough to fill it. */
export function clampView(
  intervals: readonly TimelineInterval[],
  view: TimelineViewport,
  width: number,
): TimelineViewport {
  const total = timeScale(intervals, view).width
  const last = Math.max(total - width / 2, 0)
  const first = Math.min(0, -(width / 2 - Math.min(total, width / 2)))
  return { ...view, left: Math.min(Math.max(view.left, first), last) }
}

/** The view with a time in its middle. */
export function centeredView(
  intervals: readonly TimelineInterval[],
  { perMs }: TimelineViewport,
  { at, width }: { readonly at: number; readonly width: number },
): TimelineViewport {
  return { perMs, left: contentX(timeScale(intervals, { perMs, left: 0 }), at) - width / 2 }
}

export interface Tick {
  readonly at: number
  readonly x: number
  readonly label: string
  /** The first tick of a day names the day. */
  readonly newDay: boolean
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const steps = [
  ...[1, 5, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 28, 84, 364].map((n) => n * day),
]

/** The shortest readable step whose ticks lie at least `least` pixels apart. */
function tickStep(perMs: number, least: number): number {
  return steps.find((step) => step * perMs >= least) ?? 364 * day
}

export interface TickRequest {
  /** Of what is shown, in pixels. */
  readonly width: number
  /** Least pixels between two ticks. */
  readonly least?: number
  /** Minutes that local time is ahead of UTC at a time. */
  readonly ahead: (at: number) => number
}

/** Ticks at round local times, never in a fold, never closer than `least`. */
export function ticksOf(scale: TimeScale, { width, least = 88, ahead }: TickRequest): readonly Tick[] {
  const step = tickStep(scale.perMs, least)
  const [begin, end] = [timeAt(scale, 0), timeAt(scale, width)]
  const severalDays = dayOf(scale.pieces[0]?.from ?? 0, ahead) !== dayOf(scale.pieces.at(-1)?.to ?? 0, ahead)
  const ticks: Tick[] = []
  for (const piece of scale.pieces) {
    if (piece.folded || piece.to < begin || piece.from > end) continue
    const local = ahead(piece.from) * minute
    const from = Math.max(piece.from, begin)
    for (
      let at = Math.ceil((from + local) / step) * step - local;
      at <= Math.min(piece.to, end);
      at += step
    ) {
      const x = viewX(scale, at)
      const last = ticks.at(-1)
      if (last && x - last.x < least) continue
      const newDay = !last || dayOf(at, ahead) !== dayOf(last.at, ahead)
      ticks.push({
        at,
        x,
        newDay,
        label: labelOf(at + ahead(at) * minute, { step, withDay: newDay && severalDays }),
      })
    }
  }
  return ticks
}

function dayOf(at: number, ahead: TickRequest['ahead']): number {
  return Math.floor((at + ahead(at) * minute) / day)
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `local` is read as if it were UTC. */
function labelOf(
  local: number,
  { step, withDay }: { readonly step: number; readonly withDay: boolean },
): string {
  const date = new Date(local)
  const two = (value: number): string => String(value).padStart(2, '0')
  const dayText = `${date.getUTCDate()} ${months[date.getUTCMonth()]}`
  if (step >= day) return dayText
  const seconds = step < minute ? `:${two(date.getUTCSeconds())}` : ''
  const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds}`
  return withDay ? `${dayText} ${clock}` : clock
}

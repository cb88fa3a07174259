import { type TimeScale, timeAt, xOf } from './time-scale.ts'

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
      const x = xOf(scale, at)
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

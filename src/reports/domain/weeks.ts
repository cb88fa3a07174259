import { Failure } from '../../kernel/failure.ts'

const day = 86_400_000

/** Time zone offsets are multiples of a quarter of an hour, and so are the starts of weeks. */
const quarter = 900_000

/** The ISO week, `2026-W47`, of a time in milliseconds, in the calendar of this time zone. */
export function weeksIn(zone: string): (at: number) => string {
  const calendar = calendarOf(zone)
  const cache = new Map<number, string>()
  return (at) => {
    const slot = Math.floor(at / quarter)
    const found = cache.get(slot)
    if (found !== undefined) return found
    const parts = new Map(
      calendar.formatToParts(slot * quarter).map(({ type, value }) => [type, Number(value)]),
    )
    const week = weekOfDay(
      Date.UTC(parts.get('year') ?? 0, (parts.get('month') ?? 1) - 1, parts.get('day') ?? 1),
    )
    cache.set(slot, week)
    return week
  }
}

function calendarOf(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en', {
      timeZone: zone,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
    })
  } catch (cause) {
    throw new Failure('INVALID_INPUT', `There is no time zone "${zone}".`, {
      reason: 'time_zone_unknown',
      hint: 'Use one such as Europe/Berlin or UTC, or omit it.',
      cause,
    })
  }
}

/** The week of a day, given as its midnight in UTC. Its Thursday decides the year. */
function weekOfDay(midnight: number): string {
  const weekday = (new Date(midnight).getUTCDay() + 6) % 7
  const thursday = midnight + (3 - weekday) * day
  const year = new Date(thursday).getUTCFullYear()
  const number = 1 + Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * day))
  return `${year}-W${String(number).padStart(2, '0')}`
}

/** The Monday of a week, `2026-11-16`. */
export function mondayOf(week: string): string {
  return new Date(mondayAt(week)).toISOString().slice(0, 10)
}

export function weekAfter(week: string): string {
  return weekOfDay(mondayAt(week) + 7 * day)
}

/** The fourth of January is in the first week. */
function mondayAt(week: string): number {
  const [year = 0, number = 1] = week.split('-W').map(Number)
  const fourth = Date.UTC(year, 0, 4)
  const weekday = (new Date(fourth).getUTCDay() + 6) % 7
  return fourth + (7 * (number - 1) - weekday) * day
}

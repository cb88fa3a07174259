/** ISO 8601 in UTC, of milliseconds since the epoch. */
export function instant(time: number): string {
  return new Date(time).toISOString()
}

export function instantOrNull(time: number | null): string | null {
  return time === null ? null : instant(time)
}

/** Whether a text is a day of the calendar, such as 2026-12-31: `Date.parse` takes 2026-02-30 for 2 March. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(`${text}T00:00Z`)
  return !Number.isNaN(time) && instant(time).startsWith(text)
}

/** Whole seconds between two times in milliseconds; never negative, since clocks of machines differ. */
export function secondsBetween(from: number, to: number): number {
  return Math.max(0, Math.round((to - from) / 1000))
}

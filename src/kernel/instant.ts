/** ISO 8601 in UTC, of milliseconds since the epoch. */
export function instant(time: number): string {
  return new Date(time).toISOString()
}

export function instantOrNull(time: number | null): string | null {
  return time === null ? null : instant(time)
}

/** Whole seconds between two times in milliseconds; never negative, since clocks of machines differ. */
export function secondsBetween(from: number, to: number): number {
  return Math.max(0, Math.round((to - from) / 1000))
}

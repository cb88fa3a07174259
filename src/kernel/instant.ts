/** ISO 8601 in UTC, of milliseconds since the epoch. */
export function instant(at: number): string {
  return new Date(at).toISOString()
}

export function instantOrNull(at: number | null): string | null {
  return at === null ? null : instant(at)
}

/** Whole seconds between two times in milliseconds; never negative, since clocks of machines differ. */
export function secondsBetween(from: number, to: number): number {
  return Math.max(0, Math.round((to - from) / 1000))
}

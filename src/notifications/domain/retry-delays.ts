/** Milliseconds before each further try. After the last one it is given up. */
const waits = [5_000, 30_000, 120_000, 600_000, 3_600_000, 10_800_000, 28_800_000] as const

/** The delay before the next try, in milliseconds; null if there is none. */
export function nextTry(tries: number, retryAfter: number | null): number | null {
  const wait = waits[tries - 1]
  if (wait === undefined) return null
  return Math.max(wait, Math.min(retryAfter ?? 0, 3_600_000))
}

/**
 * The latest possible end of a lease, unless it was taken with a clock that was ahead. Machines whose clocks differ by
 * less than its length agree on its holder.
 */
export function lastPossibleEnd(now: number, length: number): number {
  return now + 2 * length
}

/** Whether a lease runs. One taken with a clock that was ahead counts as over. */
export function isLeaseRunning(
  end: number,
  { now, length }: { readonly now: number; readonly length: number },
): boolean {
  return end > now && end <= lastPossibleEnd(now, length)
}

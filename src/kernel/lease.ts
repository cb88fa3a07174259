/**
 * After this time a lease of such a length cannot end, unless it was taken while a clock was ahead. Machines whose clocks
 * differ by less than its length agree on who has it.
 */
export function lastPossibleEnd(now: number, length: number): number {
  return now + 2 * length
}

/** Whether a lease runs. One that was taken while the clock was ahead is over, so that it does not last until then. */
export function isLeaseRunning(
  end: number,
  { now, length }: { readonly now: number; readonly length: number },
): boolean {
  return end > now && end <= lastPossibleEnd(now, length)
}

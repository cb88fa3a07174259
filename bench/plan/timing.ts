import { performance } from 'node:perf_hooks'

export interface Timing {
  readonly median: number
  readonly p95: number
  readonly least: number
}

/** Milliseconds of each round, one after the other, after a few that do not count. */
export async function timings(rounds: number, work: (round: number) => unknown): Promise<Timing> {
  const spent: number[] = []
  const warm = Math.ceil(rounds / 5)
  for (let round = 0; round < warm + rounds; round += 1) {
    const start = performance.now()
    await work(round)
    if (round >= warm) spent.push(performance.now() - start)
  }
  const sorted = spent.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { median: at(0.5), p95: at(0.95), least: at(0) }
}

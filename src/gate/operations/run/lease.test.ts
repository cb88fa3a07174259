import { expect, test } from 'vitest'
import { commandLeaseMs, isStillRunning } from './lease.ts'

const command = { id: 'c-1', runner: 'laptop', startedAt: 0 } as unknown as Parameters<
  typeof isStillRunning
>[1]

/** A command on another machine, whose lease ends at `until`. */
function isRunning(leasedUntil: number | null, now: number): Promise<boolean> {
  const machines = { leasedUntil: async () => leasedUntil } as unknown as Parameters<
    typeof isStillRunning
  >[0]['machines']
  return isStillRunning({ machines }, command, { isAlive: () => null, now })
}

test('a command on another machine runs until its lease ends; without a lease, counted from its start', async () => {
  expect(await isRunning(null, commandLeaseMs - 1)).toBe(true)
  expect(await isRunning(null, commandLeaseMs)).toBe(false)
  expect(await isRunning(5_000, 4_999)).toBe(true)
})

test('a command started with a clock ahead counts as over after the clock is corrected', async () => {
  const yearAhead = 365 * 24 * 3_600_000
  expect(await isRunning(yearAhead + commandLeaseMs, 0)).toBe(false)
})

import { expect, test } from 'vitest'
import { isLeaseRunning } from './lease.ts'

test.each([
  ['ended', -1, false],
  ['ends now', 0, false],
  ['just began', 60, true],
  ['began on a machine that is a little ahead', 90, true],
  ['was taken while the clock was ahead', 121, false],
  ['was taken a year ahead', 365 * 24 * 3600, false],
])('a lease of a minute that %s', (_, end, runs) => {
  expect(isLeaseRunning(1_000 + end, { now: 1_000, length: 60 })).toBe(runs)
})

import { expect, test } from 'vitest'
import { amount } from '../../support/amount.ts'
import { randomLosses } from './random-losses.ts'

const first = Number(process.env['WAYMARK_TEST_SEED'] ?? 1)
const seeds = Array.from({ length: amount({ test: 1, soak: 500 }) }, (_, at) => first + at)

let total = 0

test.each(seeds)(
  'what git commands destroy is reported, nothing else is, and all of it can be restored: seed %i',
  { timeout: 240_000 },
  async (seed) => {
    const { reported, restored, ...wrong } = await randomLosses(seed, 30)
    expect(wrong).toEqual({ wrong: [], missed: [], unrestored: [] })
    total += Math.min(reported, restored)
  },
)

test('the runs lose and restore files', () => {
  expect(total).toBeGreaterThan(0)
})

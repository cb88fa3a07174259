import { expect, test } from 'vitest'
import { amount } from '../../support/amount.ts'
import { randomUndo } from './random-undo.ts'

const first = Number(process.env['WAYMARK_TEST_SEED'] ?? 1)
const seeds = Array.from({ length: amount({ test: 1, soak: 200 }) }, (_, at) => first + at)

test.each(seeds)(
  'undoing a random task leaves every line of others: seed %i',
  { timeout: 240_000 },
  async (seed) => {
    const { undone, refused, ...wrong } = await randomUndo(seed, { hooks: seed % 2 === 0, length: 24 })
    expect(wrong).toEqual({ lost: [], left: [], missing: [], written: [] })
    expect(undone + refused).toBeGreaterThan(0)
  },
)

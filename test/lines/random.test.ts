import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { randomRun } from './random-run.ts'

const runs = [
  { seed: 2, hooks: true },
  { seed: 1, hooks: false },
  { seed: 3, hooks: false },
  { seed: 4, hooks: true },
]

test.each(runs.slice(0, amount({ test: 1, soak: 4 })))(
  'no line of a random run is told as of an agent that did not write it: %j',
  { timeout: 240_000 },
  async ({ seed, hooks }) => {
    const { judged, unsure: _, ...wrong } = await randomRun(seed, amount({ test: 4, soak: 9 }), { hooks })
    expect(judged).toBeGreaterThan(6)
    expect(wrong).toEqual({ accused: [], lost: [], missing: [], files: [] })
  },
)

import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { randomRun } from './random-run.ts'

test.each([1, 2, 3, 4].slice(0, amount({ test: 1, soak: 4 })))(
  'a random run of attempts and a person, seed %i',
  { timeout: 240_000 },
  async (seed) => {
    const { lines, missed, wrong, stolen } = await randomRun(seed, 14)
    expect(lines).toBeGreaterThan(6)
    expect({ missed, wrong, stolen }).toEqual({ missed: [], wrong: [], stolen: [] })
  },
)

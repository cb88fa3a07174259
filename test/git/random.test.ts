import { test } from 'vitest'
import { amount } from '../support/amount.ts'
import { runAtRandom } from './random-run.ts'

test.each(Array.from({ length: amount({ test: 1, soak: 25 }) }, (_, at) => at + 1))(
  'random work, seed %i',
  async (seed) => {
    await runAtRandom(seed)
  },
)

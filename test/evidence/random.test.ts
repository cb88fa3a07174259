import { test } from 'vitest'
import { runAtRandom } from './random-run.ts'

test.each(Array.from({ length: 25 }, (_, at) => at + 1))('random work, seed %i', async (seed) => {
  await runAtRandom(seed)
})

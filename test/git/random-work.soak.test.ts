import { test } from 'vitest'
import { runAtRandom } from './random-run.ts'

const runs = Number(process.env['WAYMARK_SOAK_RUNS'] ?? 1000)
const firstSeed = Number(process.env['WAYMARK_SOAK_SEED'] ?? 1_000)

test.each(Array.from({ length: runs }, (_, at) => firstSeed + at))('random work, seed %i', async (seed) => {
  await runAtRandom(seed)
})

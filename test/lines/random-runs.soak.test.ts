import { expect, test } from 'vitest'
import { type RunFigures, randomRun } from './random-run.ts'

// For more lines, give other seeds and more of them.
const first = Number(process.env['WAYMARK_TEST_SEED'] ?? 100)
const seeds = Array.from({ length: Number(process.env['WAYMARK_TEST_SEEDS'] ?? 30) }, (_, at) => first + at)

test.each([
  { hooks: false, phrases: 0 },
  { hooks: true, phrases: 0 },
  { hooks: false, phrases: 3 },
])(
  'over many random runs hardly a line is told as of another agent: %j',
  { timeout: 3_600_000 },
  async (options) => {
    const runs: RunFigures[] = []
    for (const seed of seeds) runs.push(await randomRun(seed, 24, { ...options, width: 10 }))
    const all = (kind: 'accused' | 'lost' | 'missing' | 'files') => runs.flatMap((run) => run[kind])
    const judged = runs.reduce((sum, run) => sum + run.judged, 0)
    const unsure = runs.reduce((sum, run) => sum + run.unsure.length, 0)
    const report = [`${judged} lines, ${unsure} unsure`, ...all('accused'), ...all('lost')].join('\n')
    expect(judged).toBeGreaterThan(seeds.length * 300)
    expect(all('missing')).toEqual([])
    expect(all('accused').length, report).toBeLessThanOrEqual(judged / 10_000)
    expect(all('lost'), report).toEqual([])
  },
)

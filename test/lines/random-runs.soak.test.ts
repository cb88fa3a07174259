import { expect, test } from 'vitest'
import { randomRun } from './random-run.ts'

const first = Number(process.env['WAYMARK_TEST_SEED'] ?? 100)
const seeds = Array.from({ length: 40 }, (_, at) => first + at)

for (const phrases of [0, 3]) {
  const among = phrases === 0 ? '' : ', three of ten lines being the same phrases'
  test(`over many random runs hardly a line is missed, and none is given to another${among}`, {
    timeout: 1_800_000,
  }, async () => {
    let lines = 0
    const missed: string[] = []
    const wrong: string[] = []
    const stolen: string[] = []
    for (const seed of seeds) {
      const run = await randomRun(seed, 30, { phrases })
      lines += run.lines
      missed.push(...run.missed.map((line) => `${seed} ${line}`))
      wrong.push(...run.wrong.map((line) => `${seed} ${line}`))
      stolen.push(...run.stolen.map((line) => `${seed} ${line}`))
    }
    const said = [`${lines} lines`, ...missed.slice(0, 20), 'wrong', ...wrong, 'stolen', ...stolen].join('\n')
    expect(lines, said).toBeGreaterThan(1_000)
    // Of lines with a text of their own; a phrase is nobody's.
    const off = wrong.length + stolen.length + missed.length
    if (phrases === 0) {
      expect({ wrong, stolen }, said).toEqual({ wrong: [], stolen: [] })
      expect(missed.length, said).toBeLessThanOrEqual(lines / 1_000)
    } else {
      expect(off, said).toBeLessThanOrEqual((lines * 25) / 1_000)
      expect(stolen.length, said).toBeLessThanOrEqual((lines * 3) / 1_000)
    }
  })
}

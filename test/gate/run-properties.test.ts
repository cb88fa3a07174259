import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { openProject } from '../support/project.ts'
import { anySoundProcess, anySteps, type Played, playRun } from './random-run.ts'

test('whatever is emitted: no way is taken past its guards, a refusal changes nothing, the history replays', async () => {
  const project = await openProject()
  const all: Played[] = []
  const property = fc.asyncProperty(anySoundProcess, anySteps, async (process, steps) => {
    all.push(await playRun(project, process, steps))
  })
  await fc.assert(property, { numRuns: amount({ test: 10, soak: 120 }) })

  // It was worth it: events were accepted, moved runs, stayed in them, and were refused for every reason.
  const total = (of: (played: Played) => number) => all.reduce((sum, played) => sum + of(played), 0)
  const moved = total((played) => played.moved)
  expect(moved).toBeGreaterThan(0)
  expect(total(({ accepted }) => accepted)).toBeGreaterThan(moved)
  const codes = new Set(all.flatMap(({ refused }) => refused))
  for (const code of ['REVISION_CONFLICT', 'INVALID_EVENT', 'FORBIDDEN', 'INVALID_PAYLOAD', 'GUARD_FAILED']) {
    expect(codes).toContain(code)
  }
})

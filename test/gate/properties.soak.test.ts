import fc from 'fast-check'
import { test } from 'vitest'
import { openProject } from '../support/project.ts'
import { anySoundProcess, anySteps, playRun } from './random-run.ts'

const runs = Number(process.env['WAYMARK_SOAK_RUNS'] ?? 2000)

test(`${runs} random processes and their events`, async () => {
  const project = await openProject()
  const property = fc.asyncProperty(anySoundProcess, anySteps, async (sound, steps) => {
    await playRun(project, sound, steps)
  })
  await fc.assert(property, { numRuns: runs })
})

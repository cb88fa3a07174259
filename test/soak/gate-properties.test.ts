import fc from 'fast-check'
import { test } from 'vitest'
import { anySoundProcess, anySteps, playRun } from '../gate/random-run.ts'
import { openProject } from '../support/project.ts'

const runs = Number(process.env['WAYMARK_SOAK_RUNS'] ?? 2000)

test(`${runs} random processes and their events`, async () => {
  const project = await openProject()
  const property = fc.asyncProperty(anySoundProcess, anySteps, async (sound, steps) => {
    await playRun(project, sound, steps)
  })
  await fc.assert(property, { numRuns: runs })
})

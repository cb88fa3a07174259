import fc from 'fast-check'
import { amount } from './amount.ts'

/**
 * `npm test` tries the same cases each time, so that what fails is due to the change and not to the draw; the soak run
 * draws new ones. A property that fails is made smaller for as long as there is time, and told: without an end of its
 * own it would run into the test's time, which says nothing of what failed. A slow machine tries fewer cases.
 */
fc.configureGlobal({
  interruptAfterTimeLimit: 90_000,
  numRuns: amount({ test: 25, soak: 100 }),
  ...(process.env['WAYMARK_TEST_SOAK'] === '1' ? {} : { seed: 1 }),
})

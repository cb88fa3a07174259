import fc from 'fast-check'

/**
 * A property that fails is made smaller for as long as there is time, and told: without an end of its own it would
 * run into the test's time, which says nothing of what failed. A slow machine tries fewer cases.
 */
fc.configureGlobal({ interruptAfterTimeLimit: 45_000 })

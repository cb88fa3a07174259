import { onTestFinished } from 'vitest'

const tick = 20
/** A tick that comes later than this came to a process that stood still. */
const longest = 100

/**
 * Milliseconds for which this process has run: for what it must do in time however busy the machine is. What the system
 * gave to others meanwhile does not count.
 */
export function runningClock(): () => number {
  let run = 0
  let last = performance.now()
  const ticking = setInterval(() => {
    const now = performance.now()
    run += Math.min(now - last, longest)
    last = now
  }, tick)
  onTestFinished(() => clearInterval(ticking))
  return () => run
}

/** Time comes in from outside, so that the domain is pure and tests decide what time it is. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number
}

/** Time is an input, so that the domain is pure and tests control it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number
}

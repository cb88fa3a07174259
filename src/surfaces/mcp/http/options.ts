import type { createServer } from '../server.ts'
import type { Surface } from '../surface.ts'

export interface McpOverHttpOptions extends Omit<Surface, 'contextOf'> {
  readonly limits?: Partial<Limits>
  /** Makes the servers. Tests of conformance add what they call to the one that is served otherwise. */
  readonly serverOf?: typeof createServer
}

export interface Limits {
  /** Sessions of one project at a time. */
  readonly sessions: number
  /** Milliseconds without a request and without an open stream, after which a session ends. */
  readonly idle: number
  /** Streams of `subscriptions/listen` of one project at a time. */
  readonly subscriptions: number
}

export const defaultLimits: Limits = { sessions: 200, idle: 30 * 60_000, subscriptions: 1000 }

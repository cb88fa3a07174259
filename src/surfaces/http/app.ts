import type { HttpBindings } from '@hono/node-server'
import type { Context as HonoContext } from 'hono'
import type { Caller } from './guard/caller.ts'
import type { ServedProject } from './serving.ts'

/** What a route finds in its request's context. */
export interface AppEnvironment {
  Bindings: HttpBindings
  Variables: {
    /** The project that the path names. */
    project: ServedProject
    /** Who was let in; null on the routes that let everybody in. */
    caller: Caller | null
  }
}

export type RequestContext = HonoContext<AppEnvironment>

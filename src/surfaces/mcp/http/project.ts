import type { Actor } from '../../../domain/actor.ts'
import type { Context } from '../../../operations/context.ts'
import type { JournalFeed } from '../resources/journal-feed.ts'
import type { OfferedTools } from '../tools/offered-tools.ts'
import type { Caller } from './caller.ts'
import type { McpOverHttpOptions } from './options.ts'

/** A project that is served. */
export interface McpProject {
  /** Names it among those of the server. */
  readonly key: string
  /** The context of calls by somebody. Every one shares the project's store. */
  contextOf(actor: Actor): Context
}

/** What both eras of one project's endpoint are made of. */
export interface Serving {
  readonly options: McpOverHttpOptions
  readonly project: McpProject
  readonly tools: OfferedTools
  readonly feed: JournalFeed
  /** The project's context, for what no single caller asks. */
  readonly contextOf: () => Context
}

/** A request with what its body says. */
export interface Posted {
  readonly request: Request
  readonly body: unknown
  readonly caller: Caller
}

import type { Actor } from '../../../domain/actor.ts'
import type { Context } from '../../../operations/context.ts'

/** A project that is served. */
export interface McpProject {
  /** Names it among those of the server. */
  readonly key: string
  /** The context of calls by somebody. Every one shares the project's store. */
  contextOf(actor: Actor): Context
}

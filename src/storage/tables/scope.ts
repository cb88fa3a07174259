import type { Kysely } from 'kysely'
import type { Actor } from '../../domain/actor.ts'
import type { Tables } from './tables.ts'

/** The connection or transaction that answers, and the project that is asked about. */
export interface ReadScope {
  readonly db: Kysely<Tables>
  readonly projectId: string
}

/** Whose row it is, and the fact that makes it. */
export interface RowKey {
  readonly projectId: string
  readonly seq: number
}

/** The transaction that a projection writes in, and the fact whose rows it makes. */
export interface Projecting extends ReadScope, RowKey {
  readonly at: number
  readonly actor: Actor
}

import type { Kysely } from 'kysely'
import type { Actor } from '../../domain/actor.ts'
import type { NewFact } from '../../domain/fact.ts'
import type { Tables } from './tables.ts'

/** The connection or transaction that answers, and the project that is asked about. */
export interface ReadScope {
  readonly db: Kysely<Tables>
  readonly projectId: string
}

/** The transaction that a projection writes in, and the fact whose rows it makes. */
export interface Projecting {
  readonly db: Kysely<Tables>
  readonly projectId: string
  readonly seq: number
  readonly at: number
  readonly actor: Actor
}

/** The fact of one kind. */
export type Of<Kind extends NewFact['kind']> = Extract<NewFact, { readonly kind: Kind }>

/** Whose row it is, and the fact that makes it. */
export interface RowKey {
  readonly projectId: string
  readonly seq: number
}

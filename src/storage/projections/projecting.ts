import type { Kysely } from 'kysely'
import type { Actor } from '../../domain/actor.ts'
import type { Happening } from '../../domain/fact.ts'
import type { Tables } from '../schema/tables.ts'

/** The transaction that a projection writes in, and the fact whose rows it makes. */
export interface Projecting {
  readonly db: Kysely<Tables>
  readonly projectId: string
  readonly seq: number
  readonly at: number
  readonly actor: Actor
}

/** The happening of one kind. */
export type Of<Kind extends Happening['kind']> = Extract<Happening, { readonly kind: Kind }>

import type { Kysely } from 'kysely'
import type { Tables } from '../schema/tables.ts'

/** The connection or transaction that answers, and the project that is asked about. */
export interface ReadScope {
  readonly db: Kysely<Tables>
  readonly projectId: string
}

import type { Database } from 'better-sqlite3'

/** One step of the schema. A step that was released is never edited: what is wrong is mended by a later one. */
export interface Migration {
  /** 1 for the first; consecutive. */
  readonly version: number
  readonly title: string
  /** Removes or rewrites what cannot be made again: the file is copied before it runs. */
  readonly destructive: boolean
  /** Portable SQL, run in one transaction. */
  readonly statements: readonly string[]
  /** What SQL alone cannot say, in the same transaction, after the statements. */
  readonly settle?: (database: Database) => void
}

import type { IdSource } from '../domain/id.ts'

export interface StoreOptions {
  /** Absolute path of the database; it need not exist yet. */
  readonly file: string
  /** The file was named by the user, so that several projects may live in it. */
  readonly shared: boolean
  /** Absolute path of the project's root: the top of the main work tree. */
  readonly root: string
  /** A new database keeps one side file that is never deleted, for sandboxes that forbid deleting. */
  readonly sandboxJournal: boolean
  /** The folder outside the project that keeps where its journal had come to; without one nothing is kept. */
  readonly anchorFolder?: string
  /** The version of the program: what it made of the facts is kept in that folder for the next check. */
  readonly program?: string
  readonly ids: IdSource
}

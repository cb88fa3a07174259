import type { Store } from '../ports/store.ts'
import { SqliteStore } from './sqlite-store.ts'
import type { StoreOptions } from './store-options.ts'

/** A store that opens its file at the first question, and makes it at the first record. */
export function openStore(options: StoreOptions): Store {
  return new SqliteStore(options)
}

import type { DialectAdapter, Kysely } from 'kysely'
import type { Tables } from '../schema/tables.ts'

interface Wanted {
  readonly key: string
  /** Another version of the same is read anew. */
  readonly version: string
}

/**
 * Keeps what was read last, so that it need not be read again while it is the same version.
 * By connection: a file that was replaced is opened anew, and then nothing is remembered of it.
 */
export function remembered<Value>(most: number) {
  const byConnection = new WeakMap<
    DialectAdapter,
    Map<string, { readonly version: string; readonly value: Value }>
  >()
  return async (
    db: Kysely<Tables>,
    { key, version }: Wanted,
    read: () => Promise<Value | null>,
  ): Promise<Value | null> => {
    const { adapter } = db.getExecutor()
    const known = byConnection.get(adapter) ?? new Map()
    byConnection.set(adapter, known)
    const found = known.get(key)
    if (found?.version === version) return found.value
    const value = await read()
    known.delete(key)
    if (value === null) return null
    const [oldest] = known.keys()
    if (known.size >= most && oldest !== undefined) known.delete(oldest)
    known.set(key, { version, value })
    return value
  }
}

import type { Store } from '../ports/store.ts'
import type { StoreOptions } from './store-options.ts'

/** A store that loads its driver and opens its file at the first question. */
export function openStore(options: StoreOptions): Store {
  let loading: Promise<Store> | null = null
  const store = (): Promise<Store> => {
    loading ??= import('./sqlite-store.ts').then(({ SqliteStore }) => new SqliteStore(options))
    return loading
  }
  return {
    record: async (request) => (await store()).record(request),
    view: async (look) => (await store()).view(look),
    replay: async (idempotency) => (await store()).replay(idempotency),
    restore: async (facts) => (await store()).restore(facts),
    health: async () => (await store()).health(),
    async *follow(after, signal) {
      yield* (await store()).follow(after, signal)
    },
    close: async () => {
      if (loading) await (await loading).close()
    },
  }
}

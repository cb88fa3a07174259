import type { Store } from '../ports/store.ts'

/** A store that is found at the first question, because where it lies takes git to know. */
export function deferredStore(find: () => Promise<Store>): Store {
  let finding: Promise<Store> | null = null
  const store = (): Promise<Store> => {
    // What could not be found is looked for again: the next call may come after it was mended.
    finding ??= find().catch((error: unknown) => {
      finding = null
      throw error
    })
    return finding
  }
  return {
    record: async (request) => (await store()).record(request),
    view: async (look) => (await store()).view(look),
    replay: async (idempotency) => (await store()).replay(idempotency),
    restore: async (facts) => (await store()).restore(facts),
    inspect: async (how) => (await store()).inspect(how),
    inspectChain: async () => (await store()).inspectChain(),
    repair: async (at) => (await store()).repair(at),
    accept: async (at) => (await store()).accept(at),
    backup: async (file) => (await store()).backup(file),
    putBack: async (backup, at) => (await store()).putBack(backup, at),
    health: async () => (await store()).health(),
    async *follow(after, signal) {
      yield* (await store()).follow(after, signal)
    },
    close: async () => {
      if (finding) await (await finding).close()
    },
  }
}

import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/ports/clock.ts'
import type { Store } from '../../src/ports/store.ts'
import { randomIds } from '../../src/storage/random-ids.ts'
import { openStore, type StoreOptions } from '../../src/storage/store.ts'

export const systemClock: Clock = { now: () => Date.now() }

/** A real store in a temporary directory. `await using` closes it and removes the directory. */
export interface TemporaryStore extends AsyncDisposable {
  readonly store: Store
  /** The project's root. */
  readonly root: string
  readonly file: string
  /** Another store over the same file, as another process would open it. Closed with the first. */
  readonly another: (options?: Partial<StoreOptions>) => Store
}

export async function temporaryStore(options: Partial<StoreOptions> = {}): Promise<TemporaryStore> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'waymark-store-')))
  const defaults: StoreOptions = {
    file: join(root, '.waymark', 'waymark.db'),
    shared: false,
    root,
    sandboxJournal: false,
    ids: randomIds,
    ...options,
  }
  const opened: Store[] = []
  const another = (changed: Partial<StoreOptions> = {}): Store => {
    const store = openStore({ ...defaults, ...changed })
    opened.push(store)
    return store
  }
  return {
    store: another(),
    root,
    file: defaults.file,
    another,
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((store) => store.close()))
      await rm(root, { recursive: true, force: true })
    },
  }
}

import { mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/kernel/ports/clock.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { folderKeyOf } from '../../src/store/postgres/project.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { openStore, type StoreOptions } from '../../src/store/store.ts'
import { sharedPostgres, type TemporaryDatabase } from './postgres/database.ts'
import { removeFolder } from './removed-folder.ts'

export const systemClock: Clock = { now: () => Date.now() }

/** A real store in a temporary directory. `await using` closes it and removes the directory. */
export interface TemporaryStore extends AsyncDisposable {
  readonly store: Store
  /** The project's root, as its record names it. */
  readonly root: string
  /** Absolute path of the root. */
  readonly folder: string
  /** The database: its path, or its URL. */
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
    folder: root,
    file: defaults.file,
    another,
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((store) => store.close()))
      removeFolder(root)
    },
  }
}

/** The same on PostgreSQL: a project of its own, in the database of this process unless another one is given. */
export async function temporaryPostgresStore(
  database: TemporaryDatabase | null = null,
): Promise<TemporaryStore> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'waymark-store-')))
  const url = database?.url ?? (await sharedPostgres())
  const project = { root, name: null, machine: 'laptop' }
  const opened: Store[] = []
  const another = (): Store => {
    // The others have connections of their own, as another process would have them.
    const own = new URL(url)
    if (opened.length > 0) own.searchParams.set('application_name', `waymark-${opened.length}`)
    const store = openPostgresStore({ url: own.href, project, ids: randomIds })
    opened.push(store)
    return store
  }
  return {
    store: another(),
    root: folderKeyOf(project),
    folder: root,
    file: url,
    another,
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((store) => store.close()))
      await database?.[Symbol.asyncDispose]()
      removeFolder(root)
    },
  }
}

import { type TemporaryStore, temporaryStore } from '../../support/store.ts'

interface Dialect {
  readonly dialect: string
  /** A fresh, empty store. */
  readonly fresh: () => Promise<TemporaryStore>
}

/** Every contract test runs over each of these. */
export const dialects: readonly Dialect[] = [{ dialect: 'sqlite', fresh: temporaryStore }]

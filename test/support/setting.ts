import { type IdKind, type IdSource, idPrefixes, type TransactionContext } from '../../src/kernel/id.ts'

/** Ids in order, `m-1`, `t-2` …, and a time that stands still: for tests of pure decisions. */
export function settingAt(at: number): TransactionContext {
  let count = 0
  const ids: IdSource = {
    next: <K extends IdKind>(kind: K) => {
      count += 1
      return `${idPrefixes[kind]}-${count}` as ReturnType<typeof ids.next<K>> // a brand
    },
    hash: (secret) => `hash of ${secret}`,
  }
  return { at, ids }
}

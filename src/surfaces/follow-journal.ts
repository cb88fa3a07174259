import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact } from '../domain/fact.ts'
import type { Store } from '../ports/store.ts'

interface Following {
  /** Null begins where the journal ends. */
  readonly after: number | null
  readonly signal: AbortSignal
  /** Milliseconds before another try. */
  readonly pause: number
  hear(facts: readonly Fact[]): void | Promise<void>
  failed(error: unknown): void
}

/** Tells what is recorded from a fact on, by any process, until the signal aborts; after a failure from where it was. */
export async function followJournal(store: Store, following: Following): Promise<void> {
  const { signal } = following
  let position = following.after
  while (!signal.aborted) {
    try {
      position ??= await store.view(({ journal }) => journal.head())
      for await (const facts of store.follow(position, signal)) {
        await following.hear(facts)
        position = facts.at(-1)?.seq ?? position
      }
    } catch (error) {
      following.failed(error)
    }
    // It keeps no process alive.
    await sleep(following.pause, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

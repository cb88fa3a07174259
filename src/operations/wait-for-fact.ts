import type { NewFact } from '../domain/fact.ts'
import type { Store } from '../ports/store.ts'

interface Waiting {
  readonly after: number
  /** At most so long. */
  readonly milliseconds: number
  /** Whether this is what is waited for. */
  readonly until: (fact: NewFact) => boolean | Promise<boolean>
}

/** Waits until something happens that a caller asked about, or has happened since then. */
export async function waitForFact(store: Store, { after, milliseconds, until }: Waiting): Promise<void> {
  for await (const facts of store.follow(after, AbortSignal.timeout(milliseconds))) {
    for (const { body } of facts) if (await until(body)) return
  }
}

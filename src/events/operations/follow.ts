import type { JournalReads } from '../../store/ports/reads.ts'
import type { StoreReader } from '../../store/ports/store.ts'
import type { Fact, NewFact } from '../domain/fact.ts'

/** What is needed of a store to hear what is recorded. */
export interface Followed extends Pick<StoreReader, 'follow'> {
  view<Answer>(
    look: (reads: { readonly journal: Pick<JournalReads, 'head' | 'since'> }) => Promise<Answer>,
  ): Promise<Answer>
}

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
export async function followJournal(store: Followed, following: Following): Promise<void> {
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
    if (!signal.aborted) await rest(following.pause, signal)
  }
}

/** Keeps no process alive. */
function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)])
  return new Promise((resolve) => over.addEventListener('abort', () => resolve(), { once: true }))
}

interface Waiting {
  readonly after: number
  /** At most so long. */
  readonly milliseconds: number
  /** Whether this is what is waited for. */
  readonly until: (fact: NewFact) => boolean | Promise<boolean>
}

/** Waits until something happens that a caller asked about, or has happened since then. */
export async function waitForFact(
  store: StoreReader,
  { after, milliseconds, until }: Waiting,
): Promise<void> {
  for await (const facts of store.follow(after, AbortSignal.timeout(milliseconds))) {
    for (const { body } of facts) if (await until(body)) return
  }
}

import { waitInBackground } from '../../kernel/wait.ts'
import type { StoreReader } from '../../store/ports/store.ts'
import type { NewProjectEvent, ProjectEvent } from '../domain/project-event.ts'
import type { EventLogReads } from '../ports/log-reads.ts'

/** What is needed of a store to hear what is recorded. */
export interface FollowableStore extends Pick<StoreReader, 'follow'> {
  view<Answer>(
    look: (reads: { readonly eventLog: Pick<EventLogReads, 'head' | 'since'> }) => Promise<Answer>,
  ): Promise<Answer>
}

interface FollowOptions {
  /** Null begins where the log ends. */
  readonly after: number | null
  readonly signal: AbortSignal
  /** Milliseconds before another try. */
  readonly pause: number
  hear(events: readonly ProjectEvent[]): void | Promise<void>
  failed(error: unknown): void
}

/** Tells what is recorded from a log entry on, by any process, until the signal aborts; after a failure from where it was. */
export async function followEventLog(store: FollowableStore, following: FollowOptions): Promise<void> {
  const { signal } = following
  let position = following.after
  while (!signal.aborted) {
    try {
      position ??= await store.view(({ eventLog }) => eventLog.head())
      for await (const events of store.follow(position, signal)) {
        await following.hear(events)
        position = events.at(-1)?.seq ?? position
      }
    } catch (error) {
      following.failed(error)
    }
    if (!signal.aborted) await waitInBackground(following.pause, signal)
  }
}

interface WaitOptions {
  readonly after: number
  /** At most so long. */
  readonly milliseconds: number
  /** Whether this is what is waited for. */
  readonly until: (event: NewProjectEvent) => boolean | Promise<boolean>
}

/** Waits until something happens that a caller asked about, or has happened since then. */
export async function waitForProjectEvent(
  store: StoreReader,
  { after, milliseconds, until }: WaitOptions,
): Promise<void> {
  for await (const events of store.follow(after, AbortSignal.timeout(milliseconds))) {
    for (const { body } of events) if (await until(body)) return
  }
}

import { waitInBackground } from '../../kernel/wait.ts'
import type { StoreReader } from '../../store/ports/store.ts'
import type { NewProjectEvent, ProjectEvent } from '../domain/project-event.ts'
import type { EventLogReads } from '../ports/log-reads.ts'

/** The part of a store that followers need. */
export interface FollowableStore extends Pick<StoreReader, 'follow'> {
  view<Answer>(
    read: (reads: { readonly eventLog: Pick<EventLogReads, 'head' | 'since'> }) => Promise<Answer>,
  ): Promise<Answer>
}

interface FollowOptions {
  /** Null starts at the end of the log. */
  readonly after: number | null
  readonly signal: AbortSignal
  /** Milliseconds before another try. */
  readonly pause: number
  hear(events: readonly ProjectEvent[]): void | Promise<void>
  onFailure(error: unknown): void
}

/** Yields new log entries of any process until the signal aborts; continues at its position after a failure. */
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
      following.onFailure(error)
    }
    if (!signal.aborted) await waitInBackground(following.pause, signal)
  }
}

interface WaitOptions {
  readonly after: number
  /** The maximum wait. */
  readonly milliseconds: number
  /** Whether this is the awaited event. */
  readonly until: (event: NewProjectEvent) => boolean | Promise<boolean>
}

/** Waits until an awaited event happens, or has happened since. */
export async function waitForProjectEvent(
  store: StoreReader,
  { after, milliseconds, until }: WaitOptions,
): Promise<void> {
  for await (const events of store.follow(after, AbortSignal.timeout(milliseconds))) {
    for (const { body } of events) if (await until(body)) return
  }
}

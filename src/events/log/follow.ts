import type { ProjectEvent } from '../domain/project-event.ts'

const batch = 500

/** Detects commits. A new state means that there may be more entries. */
export interface ChangeSource<State> {
  /** It failed: new followers start another source. */
  readonly isDead: boolean
  /** The next state after a known one; null when the signal aborts. */
  after(seen: State | null, signal: AbortSignal): Promise<State | null>
  stop(): Promise<void>
}

/** A project's log for an engine. */
export interface FollowableLog<State> {
  changes(): ChangeSource<State>
  /** Log entries after a position, as of a state or later. */
  since(state: State, position: number, limit: number): Promise<readonly ProjectEvent[]>
  /** The end of the log, for a log that may be set back by a restore. */
  end(state: State): Promise<number>
}

/** The followers of one project. They share the search for changes and the reading of new entries. */
export class Followers<State> {
  readonly #log: FollowableLog<State>
  readonly #readings = new Map<number, EventRead<State>>()
  #changes: ChangeSource<State> | null = null
  #count = 0

  constructor(log: FollowableLog<State>) {
    this.#log = log
  }

  /** Log entries after `after` in batches, whichever process commits them. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<readonly ProjectEvent[]> {
    const changes = this.#join()
    let position = after
    let seen: State | null = null
    try {
      for (;;) {
        const state = await changes.after(seen, signal)
        if (!state) return
        const events = await this.#after(position, state)
        // After a restored backup, sent entries are not taken back, and new ones follow.
        if (events.length === 0) position = Math.min(position, await this.#log.end(state))
        if (signal.aborted) return
        if (events.length > 0) yield events
        position = events.at(-1)?.seq ?? position
        if (events.length < batch) seen = state
      }
    } finally {
      await this.#leave(changes)
    }
  }

  #join(): ChangeSource<State> {
    if (!this.#changes || this.#changes.isDead) {
      this.#changes = this.#log.changes()
      this.#count = 0
    }
    this.#count += 1
    return this.#changes
  }

  async #leave(changes: ChangeSource<State>): Promise<void> {
    // A failed source has no followers left to count.
    if (changes !== this.#changes) return
    this.#count -= 1
    if (this.#count > 0) return
    this.#changes = null
    await changes.stop()
  }

  /** Followers at the same position share one reading, unless it began before the state and may miss its entries. */
  #after(position: number, state: State): Promise<readonly ProjectEvent[]> {
    const shared = this.#readings.get(position)
    if (shared?.state === state) return shared.events
    const events = this.#log.since(state, position, batch).finally(() => {
      if (this.#readings.get(position)?.events === events) this.#readings.delete(position)
    })
    this.#readings.set(position, { state, events })
    return events
  }
}

interface EventRead<State> {
  readonly state: State
  readonly events: Promise<readonly ProjectEvent[]>
}

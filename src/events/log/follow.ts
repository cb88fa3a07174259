import type { ProjectEvent } from '../domain/project-event.ts'

const batch = 500

/** Tells when something was committed. A state that is not the one before means that there may be more. */
export interface ChangeSource<State> {
  /** It failed: whoever joins begins anew. */
  readonly isDead: boolean
  /** The state after one that was seen already; null when the signal aborts. */
  after(seen: State | null, signal: AbortSignal): Promise<State | null>
  stop(): Promise<void>
}

/** A project's log as an engine is asked for it. */
export interface FollowableLog<State> {
  changes(): ChangeSource<State>
  /** Facts after a position, as they are in a state or later. */
  since(state: State, position: number, limit: number): Promise<readonly ProjectEvent[]>
  /** Where the log ends, for one that may be set back; nowhere while there is none. */
  end(state: State): Promise<number>
}

/** Those who follow one project. However many they are, changes are looked for once, and what is new is read once. */
export class Followers<State> {
  readonly #log: FollowableLog<State>
  readonly #readings = new Map<number, EventRead<State>>()
  #changes: ChangeSource<State> | null = null
  #count = 0

  constructor(log: FollowableLog<State>) {
    this.#log = log
  }

  /** Facts after `after`, whichever process commits them, in batches as they are found. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<readonly ProjectEvent[]> {
    const changes = this.#join()
    let position = after
    let seen: State | null = null
    try {
      for (;;) {
        const state = await changes.after(seen, signal)
        if (!state) return
        const events = await this.#after(position, state)
        // A person restored a backup: nothing that was told is taken back, and what is new comes after it.
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
    // Of one that died, nobody is left to be counted.
    if (changes !== this.#changes) return
    this.#count -= 1
    if (this.#count > 0) return
    this.#changes = null
    await changes.stop()
  }

  /**
   * Followers that wake together and are equally far share one reading. One that began before the state is not shared:
   * it may not see what the state is about.
   */
  #after(position: number, state: State): Promise<readonly ProjectEvent[]> {
    const known = this.#readings.get(position)
    if (known?.state === state) return known.events
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

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../../ports/store.ts'
import { Gathered } from './gathered.ts'
import { type Changed, whatChanged } from './what-changed.ts'

export interface JournalFeedOptions {
  readonly store: () => Store
  readonly log: (line: string) => void
}

/** Told of what changed. */
export type Hearer = (changed: Changed) => void

interface Following {
  readonly end: AbortController
  readonly ready: Promise<void>
}

/** Follows the facts of every process, once for all who want to hear of them and only while somebody does. */
export class JournalFeed {
  readonly #options: JournalFeedOptions
  readonly #hearers = new Set<Hearer>()
  #following: Following | null = null

  constructor(options: JournalFeedOptions) {
    this.#options = options
  }

  /** Resolves, with what ends it, when nothing that is recorded from now on will be missed. */
  async follow(hearer: Hearer): Promise<() => void> {
    this.#hearers.add(hearer)
    this.#following ??= this.#begin()
    try {
      await this.#following.ready
    } catch (error) {
      this.#leave(hearer)
      throw error
    }
    return () => this.#leave(hearer)
  }

  stop(): void {
    this.#hearers.clear()
    this.#following?.end.abort()
    this.#following = null
  }

  #leave(hearer: Hearer): void {
    this.#hearers.delete(hearer)
    if (this.#hearers.size === 0) this.stop()
  }

  #begin(): Following {
    const end = new AbortController()
    const store = this.#options.store()
    const head = store.view(({ journal }) => journal.head())
    return { end, ready: head.then((after) => void this.#run(store, after, end)) }
  }

  async #run(store: Store, after: number, { signal }: AbortController): Promise<void> {
    const gathered = new Gathered((changed) => {
      if (!signal.aborted) for (const hearer of this.#hearers) hearer(changed)
    })
    let position = after
    let trouble = ''
    while (!signal.aborted) {
      try {
        for await (const { seq, happening } of store.follow(position, signal)) {
          gathered.add(whatChanged(happening))
          position = seq
          trouble = ''
        }
      } catch (error) {
        const said = error instanceof Error ? error.message : String(error)
        if (said !== trouble) this.#options.log(`Changes cannot be announced at present: ${said}`)
        trouble = said
      }
      await pause(signal)
    }
  }
}

/** Before another try. It keeps no process alive. */
async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(1000, undefined, { signal, ref: false })
  } catch {
    // aborted: nobody listens any more
  }
}

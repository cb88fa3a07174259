import type { Server } from '@modelcontextprotocol/server'
import type { Store } from '../../../ports/store.ts'
import type { JournalFeedOptions } from './journal-feed.ts'
import { whatChanged } from './what-changed.ts'

const mostFacts = 200

/**
 * Looks after a call whether other resources are listed than before. For clients of the older era, which cannot
 * subscribe to the list: following all facts for each of them would cost more than the hint is worth.
 */
export class Glance {
  readonly #options: JournalFeedOptions
  #seen: number | null = null

  constructor(options: JournalFeedOptions) {
    this.#options = options
  }

  /** The client is about to read the list: what changes it from now on is news. */
  async begin(): Promise<void> {
    this.#seen = await this.#store.view(({ journal }) => journal.head())
  }

  /** Tells the client when the list changed since it read it, or since it was last told. */
  async tell(server: Server): Promise<void> {
    if (this.#seen === null) return
    try {
      if (await this.#changedAfter(this.#seen)) await server.sendResourceListChanged()
    } catch (error) {
      this.#options.log(`The list of resources may have changed, which could not be told: ${String(error)}`)
    }
  }

  async #changedAfter(after: number): Promise<boolean> {
    const facts = await this.#store.view(({ journal }) => journal.since(after, mostFacts))
    this.#seen = facts.at(-1)?.seq ?? after
    return facts.some(({ happening }) => whatChanged(happening).list)
  }

  get #store(): Store {
    return this.#options.store()
  }
}

import type { Hearer, JournalFeed } from './journal-feed.ts'

/** What one connection wants to hear of. It follows the journal while that is anything. */
export class Watch {
  readonly #feed: JournalFeed
  readonly #listeners = new Set<string>()
  #following: Promise<() => void> | null = null
  #announce: Hearer = () => undefined

  constructor(feed: JournalFeed) {
    this.#feed = feed
  }

  /** Whom to tell. The last one given counts. */
  tell(announce: Hearer): void {
    this.#announce = announce
  }

  /** Resolves when nothing that is recorded from now on will be missed. */
  async listen(listener: string): Promise<void> {
    this.#listeners.add(listener)
    this.#following ??= this.#feed.follow((changed) => this.#announce(changed))
    try {
      await this.#following
    } catch (error) {
      this.leave(listener)
      throw error
    }
  }

  leave(listener: string): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.stop()
  }

  get isFollowing(): boolean {
    return this.#following !== null
  }

  isListening(listener: string): boolean {
    return this.#listeners.has(listener)
  }

  stop(): void {
    this.#listeners.clear()
    const following = this.#following
    this.#following = null
    following?.then(
      (stop) => stop(),
      () => undefined, // whoever listened was told
    )
  }
}

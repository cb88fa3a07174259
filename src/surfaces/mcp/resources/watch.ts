import type { Hearer, JournalFeed } from './journal-feed.ts'
import type { Changed } from './what-changed.ts'

/** What one connection wants to hear of. It follows the journal while that is anything. */
export class Watch {
  readonly #feed: JournalFeed
  readonly #listeners = new Set<string>()
  #following: Promise<() => void> | null = null
  #announce: Hearer = () => undefined
  #held: Held | null = null

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
    this.#following ??= this.#feed.follow((changed) => this.#tell(changed))
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

  /** How many it listens for. */
  get size(): number {
    return this.#listeners.size
  }

  /** Nobody can be told at present: what is listened for is kept. */
  hold(): void {
    this.#held ??= { uris: new Set(), list: false }
  }

  get isHeld(): boolean {
    return this.#held !== null
  }

  /** Tells what was kept, each address once, and from now on what happens. */
  release(): void {
    const held = this.#held
    this.#held = null
    if (held && (held.uris.size > 0 || held.list)) this.#announce({ uris: [...held.uris], list: held.list })
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

  #tell(changed: Changed): void {
    if (!this.#held) {
      this.#announce(changed)
      return
    }
    for (const uri of changed.uris) if (this.#listeners.has(uri)) this.#held.uris.add(uri)
    this.#held.list ||= changed.list
  }
}

interface Held {
  readonly uris: Set<string>
  list: boolean
}

import type { Store } from '../../../ports/store.ts'
import { type Changed, whatChanged } from './what-changed.ts'

export interface WatchOptions {
  readonly store: () => Store
  readonly log: (line: string) => void
}

/** Follows the facts of every process while somebody on this connection wants to hear of them. */
export class Watch {
  readonly #options: WatchOptions
  readonly #listeners = new Set<string>()
  #following: AbortController | null = null
  #ready: Promise<void> = Promise.resolve()
  #announce: (changed: Changed) => void = () => undefined

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Whom to tell. The last one given counts. */
  tell(announce: (changed: Changed) => void): void {
    this.#announce = announce
  }

  /** Resolves when nothing that is recorded from now on will be missed. */
  async listen(listener: string): Promise<void> {
    this.#listeners.add(listener)
    if (!this.#following) {
      this.#following = new AbortController()
      this.#ready = this.#begin(this.#following)
    }
    try {
      await this.#ready
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
    this.#following?.abort()
    this.#following = null
  }

  async #begin(following: AbortController): Promise<void> {
    const store = this.#options.store()
    const head = await store.view(({ journal }) => journal.head())
    void this.#follow(store, head, following)
  }

  async #follow(store: Store, head: number, following: AbortController): Promise<void> {
    const gathered = new Gathered((changed) => {
      if (!following.signal.aborted) this.#announce(changed)
    })
    try {
      for await (const { happening } of store.follow(head, following.signal)) {
        gathered.add(whatChanged(happening))
      }
    } catch (error) {
      this.#options.log(
        `Changes are no longer announced: ${error instanceof Error ? error.stack : String(error)}`,
      )
      if (this.#following === following) this.#following = null
    }
  }
}

/** Several facts of one transaction are one change to whoever reads: they are told together, each address once. */
class Gathered {
  readonly #told: (changed: Changed) => void
  #uris = new Set<string>()
  #list = false
  #planned = false

  constructor(told: (changed: Changed) => void) {
    this.#told = told
  }

  add({ uris, list }: Changed): void {
    for (const uri of uris) this.#uris.add(uri)
    this.#list ||= list
    if (this.#planned) return
    this.#planned = true
    setImmediate(() => {
      const changed = { uris: [...this.#uris], list: this.#list }
      this.#uris = new Set()
      this.#list = false
      this.#planned = false
      this.#told(changed)
    })
  }
}

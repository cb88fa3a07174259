import type { PeopleDirectory } from './directory.ts'
import type { Caller } from './request-info.ts'

/** Milliseconds between two checks of open connections. */
const checkEveryMs = 250

interface Stream {
  readonly caller: Caller
  readonly end: () => void
}

/** Connections that stay open. They close when the caller's token or session ends. */
export class OpenStreams {
  readonly #directory: Pick<PeopleDirectory, 'hasSameAccess'>
  readonly #streams = new Set<Stream>()
  #timer: NodeJS.Timeout | null = null

  constructor(directory: Pick<PeopleDirectory, 'hasSameAccess'>) {
    this.#directory = directory
  }

  /** Calls `end` when the caller loses access. Returns a function to remove the connection. */
  keep(caller: Caller, end: () => void): () => void {
    const stream = { caller, end }
    this.#streams.add(stream)
    this.#scheduleCheck()
    return () => this.#forget(stream)
  }

  /** Starts the next check only after the last one: a database may be slow. */
  #scheduleCheck(): void {
    if (this.#timer !== null) return
    this.#timer = setTimeout(() => {
      void this.#checkStreams().finally(() => {
        this.#timer = null
        if (this.#streams.size > 0) this.#scheduleCheck()
      })
    }, checkEveryMs).unref()
  }

  async #checkStreams(): Promise<void> {
    const isAllowed = new Map<string, Promise<boolean>>()
    await Promise.all(
      [...this.#streams].map(async (stream) => {
        const { token, login, principal } = stream.caller
        const key = `${token} ${login ?? ''} ${principal.version}`
        const hasSameAccess = isAllowed.get(key) ?? this.#directory.hasSameAccess(stream.caller)
        isAllowed.set(key, hasSameAccess)
        if ((await hasSameAccess) || !this.#streams.has(stream)) return
        this.#forget(stream)
        stream.end()
      }),
    )
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream)
  }
}

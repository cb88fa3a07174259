import type { PeopleDirectory } from './directory.ts'
import type { Caller } from './request-info.ts'

/** Milliseconds between two looks at who is still let in. */
const look = 250

interface Stream {
  readonly caller: Caller
  readonly end: () => void
}

/** What stays open for callers. It ends when the caller's token is revoked, or the session ends or grows too old. */
export class OpenStreams {
  readonly #directory: Pick<PeopleDirectory, 'stands'>
  readonly #streams = new Set<Stream>()
  #looking: NodeJS.Timeout | null = null

  constructor(directory: Pick<PeopleDirectory, 'stands'>) {
    this.#directory = directory
  }

  /** Calls `end` once the caller is let in no more. Answers how to say that it is closed already. */
  keep(caller: Caller, end: () => void): () => void {
    const stream = { caller, end }
    this.#streams.add(stream)
    this.#lookLater()
    return () => this.#forget(stream)
  }

  /** Looks again only when a look has ended: a database may take its time. */
  #lookLater(): void {
    if (this.#looking !== null) return
    this.#looking = setTimeout(() => {
      void this.#look().finally(() => {
        this.#looking = null
        if (this.#streams.size > 0) this.#lookLater()
      })
    }, look).unref()
  }

  async #look(): Promise<void> {
    const isAllowed = new Map<string, Promise<boolean>>()
    await Promise.all(
      [...this.#streams].map(async (stream) => {
        const { token, login, principal } = stream.caller
        const key = `${token} ${login ?? ''} ${principal.version}`
        const stands = isAllowed.get(key) ?? this.#directory.stands(stream.caller)
        isAllowed.set(key, stands)
        if ((await stands) || !this.#streams.has(stream)) return
        this.#forget(stream)
        stream.end()
      }),
    )
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream)
  }
}

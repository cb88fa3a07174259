import type { Logins } from './logins.ts'
import type { Caller } from './request-info.ts'
import type { TokenFile } from './tokens.ts'

/** Milliseconds between two looks at who is still let in. */
const look = 250

interface LetIn {
  readonly tokens: TokenFile
  readonly logins: Logins
  readonly now: () => number
}

interface Stream {
  readonly caller: Caller
  readonly end: () => void
}

/** What stays open for callers. It ends when the caller's token is removed, or the login ends or grows too old. */
export class OpenStreams {
  readonly #letIn: LetIn
  readonly #streams = new Set<Stream>()
  #looking: NodeJS.Timeout | null = null

  constructor(letIn: LetIn) {
    this.#letIn = letIn
  }

  /** Calls `end` once the caller is let in no more. Answers how to say that it is closed already. */
  keep(caller: Caller, end: () => void): () => void {
    const stream = { caller, end }
    this.#streams.add(stream)
    this.#looking ??= setInterval(() => this.#look(), look).unref()
    return () => this.#forget(stream)
  }

  #look(): void {
    const standing = new Map<string, boolean>()
    for (const stream of this.#streams) {
      const key = `${stream.caller.token} ${stream.caller.login ?? ''}`
      const stands = standing.get(key) ?? this.#stands(stream.caller)
      standing.set(key, stands)
      if (stands) continue
      this.#forget(stream)
      stream.end()
    }
  }

  #stands({ token, login }: Caller): boolean {
    const { tokens, logins, now } = this.#letIn
    try {
      if (!tokens.entries().some(({ hash }) => hash === token)) return false
      return login === null || logins.isAlive(login, now())
    } catch {
      return true // files that cannot be read now say of nobody that they were removed
    }
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0 || this.#looking === null) return
    clearInterval(this.#looking)
    this.#looking = null
  }
}

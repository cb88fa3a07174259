import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'

/** Counts the requests that still wait for an answer. */
export class Unanswered {
  readonly #waiting = new Map<RequestId, number>()
  #whenNone: (() => void)[] = []

  /** Notes a message from the client. A subscription is answered only when it ends, and so is none to wait for. */
  received(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      if (message.method !== 'subscriptions/listen') this.#add(message.id, 1)
      return
    }
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined
    if (typeof cancelled === 'string' || typeof cancelled === 'number') this.#add(cancelled, -1)
  }

  /** Notes a message to the client. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#add(message.id, -1)
  }

  /** Resolves once every request was answered or cancelled. */
  async none(): Promise<void> {
    if (this.#waiting.size === 0) return
    await new Promise<void>((resolve) => this.#whenNone.push(resolve))
  }

  /** The other side is gone: nobody waits for anything. */
  forget(): void {
    this.#waiting.clear()
    this.#release()
  }

  #add(id: RequestId, difference: 1 | -1): void {
    const count = (this.#waiting.get(id) ?? 0) + difference
    if (count > 0) this.#waiting.set(id, count)
    else this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#release()
  }

  #release(): void {
    const waiting = this.#whenNone
    this.#whenNone = []
    for (const resolve of waiting) resolve()
  }
}

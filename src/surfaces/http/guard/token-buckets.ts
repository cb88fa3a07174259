/** How often something may happen: so many at once, and so many again per second. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

interface Bucket {
  left: number
  at: number
}

const most = 10_000

/** Counts what each of many callers does. */
export class TokenBuckets {
  readonly #rate: Rate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** Takes one. Answers 0, or after how many seconds there will be one again. */
  take(key: string, now: number): number {
    const { burst, perSecond } = this.#rate
    const known = this.#buckets.get(key)
    const left = known ? Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond) : burst
    const waits = left < 1 ? Math.max(1, Math.ceil((1 - left) / perSecond)) : 0
    this.#buckets.set(key, { left: waits === 0 ? left - 1 : left, at: now })
    if (this.#buckets.size > most) this.#forget(now)
    return waits
  }

  /** Whoever is full again is as good as new. */
  #forget(now: number): void {
    const { burst, perSecond } = this.#rate
    for (const [key, { left, at }] of this.#buckets) {
      if (left + ((now - at) / 1000) * perSecond >= burst) this.#buckets.delete(key)
    }
  }
}

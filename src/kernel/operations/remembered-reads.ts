import type { Reads } from '../../store/ports/store.ts'

type Question = (...values: unknown[]) => Promise<unknown>

/**
 * Reads that answer a question with equal values once. For preparing a measurement in several rounds: what is decided
 * is read again in the write transaction.
 */
export class RememberedReads {
  readonly #answers = new Map<string, Promise<unknown>>()

  /** The same reads, with the answers so far. */
  over(reads: Reads): Reads {
    return new Proxy(reads, {
      get: (_, name) => {
        const feature: unknown = Reflect.get(reads, name)
        return typeof feature === 'object' && feature !== null
          ? this.#overFeature(String(name), feature)
          : feature
      },
    })
  }

  forget(): void {
    this.#answers.clear()
  }

  #overFeature(feature: string, questions: object): object {
    return new Proxy(questions, {
      get: (_, name) => {
        const ask: unknown = Reflect.get(questions, name)
        if (typeof ask !== 'function') return ask
        return (...values: unknown[]) =>
          this.#answer(`${feature}.${String(name)}`, values, (ask as Question).bind(questions)) // each is a query
      },
    })
  }

  #answer(question: string, values: readonly unknown[], ask: Question): Promise<unknown> {
    if (!values.every(isPlain)) return ask(...values)
    const key = `${question} ${JSON.stringify(values)}`
    const earlier = this.#answers.get(key)
    if (earlier !== undefined) return earlier
    const answer = ask(...values)
    this.#answers.set(key, answer)
    return answer
  }
}

/** Whether JSON has all of the value. */
function isPlain(value: unknown): boolean {
  if (value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value)) return true
  if (Array.isArray(value)) return value.every(isPlain)
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return false
  return Object.values(value).every(isPlain)
}

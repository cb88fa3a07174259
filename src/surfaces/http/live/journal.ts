import type { Clock } from '../../../ports/clock.ts'
import type { Store } from '../../../ports/store.ts'
import { type FactFrames, framesOf } from './frames.ts'

const page = 100
// Milliseconds for which a page is shared by those who catch up at the same time, as after a restart of the server.
const sharedFor = 1_000

/** What happened before, page by page, written out once for all who catch up together. */
export class Journal {
  readonly #from: { readonly store: Store; readonly clock: Clock }
  readonly #pages = new Map<number, Promise<readonly FactFrames[]>>()

  constructor(from: { readonly store: Store; readonly clock: Clock }) {
    this.#from = from
  }

  /** Some of the facts after a position, at least one where there is one, in order. */
  async after(position: number): Promise<readonly FactFrames[]> {
    const first = position - (position % page)
    const shared = await this.#page(first)
    // A page that was not full yet when it was read may have grown.
    if ((shared.at(-1)?.seq ?? first) > position) return shared
    this.#pages.delete(first)
    return this.#page(first)
  }

  #page(first: number): Promise<readonly FactFrames[]> {
    const known = this.#pages.get(first)
    if (known) return known
    const reading = this.#read(first)
    this.#pages.set(first, reading)
    const forget = () => {
      if (this.#pages.get(first) === reading) this.#pages.delete(first)
    }
    setTimeout(forget, sharedFor).unref()
    reading.catch(forget)
    return reading
  }

  #read(first: number): Promise<readonly FactFrames[]> {
    const { store, clock } = this.#from
    return store.view(async (reads) => framesOf(await reads.journal.since(first, page), reads, clock.now()))
  }
}

import type { Changed } from './what-changed.ts'

/** Several facts of one transaction are one change to whoever reads: they are told together, each address once. */
export class Gathered {
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

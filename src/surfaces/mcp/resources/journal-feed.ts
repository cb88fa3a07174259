import { setTimeout as sleep } from 'node:timers/promises'
import type { NewFact } from '../../../domain/fact.ts'
import { type Concern, concernsOf } from '../../../domain/fact-kinds.ts'
import { messageOf } from '../../../domain/failure.ts'
import type { Store } from '../../../ports/store.ts'
import { changesUri, missionUri, summaryUri, taskUri } from './resource-uri.ts'

export interface JournalFeedOptions {
  readonly store: () => Store
  readonly log: (line: string) => void
}

/** Told of what changed. */
export type Hearer = (changed: Changed) => void

interface Following {
  readonly end: AbortController
  readonly ready: Promise<void>
}

/** Follows the facts of every process, once for all who want to hear of them and only while somebody does. */
export class JournalFeed {
  readonly #options: JournalFeedOptions
  readonly #hearers = new Set<Hearer>()
  #following: Following | null = null

  constructor(options: JournalFeedOptions) {
    this.#options = options
  }

  /** Resolves, with what ends it, when nothing that is recorded from now on will be missed. */
  async follow(hearer: Hearer): Promise<() => void> {
    this.#hearers.add(hearer)
    this.#following ??= this.#begin()
    try {
      await this.#following.ready
    } catch (error) {
      this.#leave(hearer)
      throw error
    }
    return () => this.#leave(hearer)
  }

  stop(): void {
    this.#hearers.clear()
    this.#following?.end.abort()
    this.#following = null
  }

  #leave(hearer: Hearer): void {
    this.#hearers.delete(hearer)
    if (this.#hearers.size === 0) this.stop()
  }

  #begin(): Following {
    const end = new AbortController()
    const store = this.#options.store()
    const head = store.view(({ journal }) => journal.head())
    return { end, ready: head.then((after) => void this.#run(store, after, end)) }
  }

  async #run(store: Store, after: number, { signal }: AbortController): Promise<void> {
    const gathered = new ChangesOfOneTick((changed) => {
      if (!signal.aborted) for (const hearer of this.#hearers) hearer(changed)
    })
    let position = after
    let trouble = ''
    while (!signal.aborted) {
      try {
        for await (const { seq, body } of store.follow(position, signal)) {
          gathered.add(whatChanged(body))
          position = seq
          trouble = ''
        }
      } catch (error) {
        const said = messageOf(error)
        if (said !== trouble) this.#options.log(`Changes cannot be announced at present: ${said}`)
        trouble = said
      }
      await pause(signal)
    }
  }
}

/** Before another try. It keeps no process alive. */
async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(1000, undefined, { signal, ref: false })
  } catch {
    // aborted: nobody listens any more
  }
}

/** What a fact changes for those who read resources. */
export interface Changed {
  readonly uris: readonly string[]
  /** Other resources are listed than before. */
  readonly list: boolean
}

export function whatChanged(fact: NewFact): Changed {
  const changes = concernsOf(fact).map(changedBy)
  return { uris: changes.flatMap(({ uris }) => uris), list: changes.some(({ list }) => list) }
}

function changedBy({ change, of }: Concern): Changed {
  if (of.kind === 'mission') return { uris: [missionUri(of.id)], list: change === 'created' }
  if (of.kind === 'task') return { uris: [taskUri(of.id)], list: false }
  // The list shows the tasks that are worked on.
  if (of.kind === 'attempt') return { uris: [changesUri(of.taskId)], list: true }
  // A run moved, or what its guards look at did: what may be emitted is another than before.
  if (of.kind === 'run') return { uris: [summaryUri(of.id)], list: true }
  if (of.kind === 'command' && of.runId !== null) return { uris: [summaryUri(of.runId)], list: true }
  return { uris: [], list: false }
}

/** Several facts of one transaction are one change to whoever reads: they are told together, each address once. */
class ChangesOfOneTick {
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

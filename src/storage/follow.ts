import type { Fact } from '../domain/fact.ts'
import { resolveProject, type Whereabouts } from './project/resolve-project.ts'
import { type Beat, Pulse } from './pulse.ts'
import { readsOf } from './reads/reads.ts'
import type { OpenConnection } from './sqlite/dialect.ts'
import { ConnectionRetired } from './sqlite/driver.ts'

const batch = 500

/** Those who follow one project. However many they are, the file is looked at once, and what is new is read once. */
export class Followers {
  readonly #file: string
  readonly #place: Whereabouts
  readonly #readings = new Map<number, Reading>()
  #pulse: Pulse | null = null
  #count = 0

  constructor(file: string, place: Whereabouts) {
    this.#file = file
    this.#place = place
  }

  /** Facts after `after` as any process commits them. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Fact> {
    const pulse = this.#join()
    let position = after
    let seen: Beat | null = null
    try {
      for (;;) {
        const beat = await pulse.after(seen, signal)
        if (!beat) return
        const facts = await this.#after(position, beat)
        // A person restored a backup: nothing that was told is taken back, and what is new comes after it.
        if (facts.length === 0 && beat.connection) position = Math.min(position, await this.#end(beat))
        for (const fact of facts) {
          if (signal.aborted) return
          yield fact
          position = fact.seq
        }
        if (facts.length < batch) seen = beat
      }
    } finally {
      await this.#leave(pulse)
    }
  }

  #join(): Pulse {
    if (!this.#pulse || this.#pulse.isDead) {
      this.#pulse = new Pulse(this.#file)
      this.#count = 0
    }
    this.#count += 1
    return this.#pulse
  }

  async #leave(pulse: Pulse): Promise<void> {
    // Of a pulse that died, nobody is left to be counted.
    if (pulse !== this.#pulse) return
    this.#count -= 1
    if (this.#count > 0) return
    this.#pulse = null
    await pulse.stop()
  }

  /**
   * Followers that wake together and are equally far share one reading. One that began before the beat is not shared:
   * it may not see what the beat is about.
   */
  #after(position: number, beat: Beat): Promise<readonly Fact[]> {
    const known = this.#readings.get(position)
    if (known?.beat === beat) return known.facts
    const facts = this.#read(beat, position).finally(() => {
      if (this.#readings.get(position)?.facts === facts) this.#readings.delete(position)
    })
    this.#readings.set(position, { beat, facts })
    return facts
  }

  /** Where the journal ends; nowhere while there is none. */
  async #end({ connection }: Beat): Promise<number> {
    if (!connection) return Number.POSITIVE_INFINITY
    try {
      return await endOf(connection, this.#place)
    } catch (error) {
      if (error instanceof ConnectionRetired) return Number.POSITIVE_INFINITY
      throw error
    }
  }

  async #read({ connection }: Beat, position: number): Promise<readonly Fact[]> {
    if (!connection) return []
    try {
      return await factsAfter(connection, this.#place, position)
    } catch (error) {
      // The file was replaced: the next beat is about the new one.
      if (error instanceof ConnectionRetired) return []
      throw error
    }
  }
}

interface Reading {
  readonly beat: Beat
  readonly facts: Promise<readonly Fact[]>
}

function endOf({ db }: OpenConnection, place: Whereabouts): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    const project = await resolveProject(transaction, place)
    if (!project) return Number.POSITIVE_INFINITY
    return readsOf({ db: transaction, projectId: project.id }).journal.head()
  })
}

function factsAfter({ db }: OpenConnection, place: Whereabouts, after: number): Promise<readonly Fact[]> {
  return db.transaction().execute(async (transaction) => {
    const project = await resolveProject(transaction, place)
    if (!project) return []
    return readsOf({ db: transaction, projectId: project.id }).journal.since(after, batch)
  })
}

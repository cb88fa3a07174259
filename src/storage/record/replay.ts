import type { Database } from 'better-sqlite3'
import { Failure } from '../../domain/failure.ts'
import { migrations } from '../migrations/list.ts'
import { migrate } from '../migrations/migrate.ts'
import { apply } from '../projections/apply.ts'
import { follows } from '../reads/journal-chain.ts'
import { beforeFirst, factOf } from '../rows/fact-row.ts'
import type { FactTable } from '../schema/journal-tables.ts'
import { connected, type OpenConnection } from '../sqlite/dialect.ts'
import { openMemory } from '../sqlite/open-connection.ts'

const batch = 500

/** A store in memory that has nothing but what the facts made. */
export interface Replay {
  readonly database: Database
  /** The last fact that was applied. */
  readonly seq: number
  readonly head: string
  /** Why it went no further; null when every fact follows from the one before and could be applied. */
  readonly trouble: ReplayTrouble | null
  /** Applies the facts that came since. */
  follow(journal: Database): Promise<void>
  close(): void
}

export interface ReplayTrouble {
  readonly seq: number
  readonly kind: 'chain' | 'projection'
  readonly why: string
}

/** Applies a project's facts to an empty store, one after the other, as they were applied when they happened. */
export async function replay(journal: Database, projectId: string): Promise<Replay> {
  const memory = openMemory()
  try {
    await migrate(memory, ':memory:', migrations)
    // Nothing here is ever taken back or read after a crash.
    for (const pragma of ['journal_mode = off', 'foreign_keys = off']) memory.pragma(pragma)
    const replaying = new Replaying(connected(memory, 'write'), projectId)
    await replaying.follow(journal)
    return replaying
  } catch (error) {
    memory.close()
    throw error
  }
}

class Replaying implements Replay {
  readonly #open: OpenConnection
  readonly #projectId: string
  readonly #breath = breath()
  #seq = 0
  #head = beforeFirst
  #trouble: ReplayTrouble | null = null

  constructor(open: OpenConnection, projectId: string) {
    this.#open = open
    this.#projectId = projectId
  }

  get database(): Database {
    return this.#open.raw
  }

  get seq(): number {
    return this.#seq
  }

  get head(): string {
    return this.#head
  }

  get trouble(): ReplayTrouble | null {
    return this.#trouble
  }

  async follow(journal: Database): Promise<void> {
    const following = journal.prepare<unknown[], FactTable>(
      `select * from fact where project_id = ? and seq > ? order by seq limit ${batch}`,
    )
    for (;;) {
      if (this.#trouble) return
      const rows = following.all(this.#projectId, this.#seq)
      await this.#open.db.transaction().execute(async (db) => {
        for (const row of rows) {
          if (!follows(row, { seq: this.#seq, hash: this.#head })) this.#trouble = brokenAt(this.#seq + 1)
          if (this.#trouble) return
          const { seq, at, actor, happening } = factOf(row)
          const by = { projectId: this.#projectId, seq, at, actor }
          this.#trouble = await tried(seq, () => apply({ db, ...by }, happening))
          if (this.#trouble) return
          this.#seq = seq
          this.#head = row.hash
          await this.#breath()
        }
      })
      if (rows.length < batch) break
    }
    this.#open.raw
      .prepare('update project set seq = ?, head = ? where id = ?')
      .run(this.#seq, this.#head, this.#projectId)
  }

  close(): void {
    this.#open.retire()
  }
}

function brokenAt(seq: number): ReplayTrouble {
  return { seq, kind: 'chain', why: 'it, or one before it, was changed outside Waymark' }
}

async function tried(seq: number, work: () => Promise<void>): Promise<ReplayTrouble | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (error instanceof Failure) throw error
    return { seq, kind: 'projection', why: error instanceof Error ? error.message : String(error) }
  }
}

/** Lets a server answer others meanwhile: waits a turn of the event loop when the last one is some milliseconds ago. */
export function breath(milliseconds = 8): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < milliseconds) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now()
        resolve()
      })
    })
  }
}

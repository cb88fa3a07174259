import type { Database } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { Failure, messageOf } from '../../domain/failure.ts'
import { beforeFirst, type FactTable, factOf, follows } from '../journal/journal.ts'
import { migrations } from '../migrations/list.ts'
import { migrate } from '../migrations/migrate.ts'
import { openMemory, openScratch } from '../sqlite/connection.ts'
import { connected, type OpenConnection } from '../sqlite/driver.ts'
import { breath } from '../sqlite/waiting.ts'
import { projectFact } from '../tables/projections.ts'
import type { Tables } from '../tables/tables.ts'

const batch = 500

/** A store that has nothing but what the facts made. */
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

/** A file that nothing else uses, and how far the facts in it go: empty when it is new. */
export interface ReplayFile {
  readonly path: string
  readonly seq: number
  readonly head: string
}

/**
 * Applies a project's facts to an empty store, one after the other, as they were applied when they happened. In a file,
 * only those that came after what it holds.
 */
export async function replay(
  journal: Database,
  projectId: string,
  file: ReplayFile | null = null,
): Promise<Replay> {
  const database = file === null ? openMemory() : openScratch(file.path)
  try {
    await migrate(database, file?.path ?? ':memory:', migrations)
    database.pragma('foreign_keys = off')
    const replaying = new Replaying(connected(database, 'write'), projectId, file)
    await replaying.follow(journal)
    return replaying
  } catch (error) {
    database.close()
    throw error
  }
}

class Replaying implements Replay {
  readonly #open: OpenConnection
  readonly #projectId: string
  readonly #breath = breath()
  #seq: number
  #head: string
  #trouble: ReplayTrouble | null = null

  constructor(open: OpenConnection, projectId: string, from: Pick<ReplayFile, 'seq' | 'head'> | null) {
    this.#open = open
    this.#projectId = projectId
    this.#seq = from?.seq ?? 0
    this.#head = from?.head ?? beforeFirst
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
    if (this.#trouble) return
    await this.#open.db.transaction().execute(async (db) => {
      for (;;) {
        const rows = following.all(this.#projectId, this.#seq)
        for (const row of rows) {
          this.#trouble = await this.#applied(db, row)
          if (this.#trouble) return
          const waits = this.#breath()
          if (waits) await waits
        }
        if (rows.length < batch) return
      }
    })
    this.#open.raw
      .prepare('update project set seq = ?, head = ? where id = ?')
      .run(this.#seq, this.#head, this.#projectId)
  }

  async #applied(db: Kysely<Tables>, row: FactTable): Promise<ReplayTrouble | null> {
    if (!follows(row, { seq: this.#seq, hash: this.#head })) return brokenAt(this.#seq + 1)
    const { seq, at, actor, body } = factOf(row)
    const trouble = await tried(seq, () =>
      projectFact({ db, projectId: this.#projectId, seq, at, actor }, body),
    )
    if (trouble) return trouble
    this.#seq = seq
    this.#head = row.hash
    return null
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
    return { seq, kind: 'projection', why: messageOf(error) }
  }
}

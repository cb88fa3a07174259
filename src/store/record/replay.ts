import type { Database as Connection } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import {
  beforeFirst,
  isNextEntry,
  type ProjectEventTable,
  projectEventOf,
} from '../../events/log/event-log.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import { openTemporary } from '../sqlite/connection.ts'
import { createSqliteTables } from '../sqlite/create.ts'
import { connectDriver, type OpenConnection } from '../sqlite/driver.ts'
import { createYielder } from '../sqlite/lock-retry.ts'
import { projectEventIntoTables } from '../tables/projections.ts'
import type { Tables } from '../tables/tables.ts'

const batchSize = 500

/** A store that contains only replayed log entries. */
export interface Replay {
  readonly database: Connection
  /** The last applied log entry. */
  readonly seq: number
  readonly head: string
  /** Why the replay stopped; null when all entries were applied. */
  readonly error: ReplayError | null
  /** Applies newer log entries. */
  follow(log: Connection): Promise<void>
  close(): void
}

export interface ReplayError {
  readonly seq: number
  readonly kind: 'chain' | 'projection'
  readonly why: string
}

/** Replays a project's log entries into an empty store. */
export async function replay(log: Connection, projectId: string): Promise<Replay> {
  const database = openTemporary()
  try {
    await createSqliteTables(database)
    database.pragma('foreign_keys = off')
    const replaying = new StoreReplay(connectDriver(database, 'write'), projectId)
    await replaying.follow(log)
    return replaying
  } catch (error) {
    database.close()
    throw error
  }
}

class StoreReplay implements Replay {
  readonly #open: OpenConnection
  readonly #projectId: string
  readonly #breath = createYielder()
  #seq = 0
  #head: string = beforeFirst
  #error: ReplayError | null = null

  constructor(open: OpenConnection, projectId: string) {
    this.#open = open
    this.#projectId = projectId
  }

  get database(): Connection {
    return this.#open.raw
  }

  get seq(): number {
    return this.#seq
  }

  get head(): string {
    return this.#head
  }

  get error(): ReplayError | null {
    return this.#error
  }

  async follow(log: Connection): Promise<void> {
    const following = log.prepare<unknown[], ProjectEventTable>(
      `select * from project_event where project_id = ? and seq > ? order by seq limit ${batchSize}`,
    )
    if (this.#error) return
    await this.#open.db.transaction().execute(async (db) => {
      for (;;) {
        const rows = following.all(this.#projectId, this.#seq)
        for (const row of rows) {
          this.#error = await this.#apply(db, row)
          if (this.#error) return
          const waits = this.#breath()
          if (waits) await waits
        }
        if (rows.length < batchSize) return
      }
    })
    this.#open.raw
      .prepare('update project set seq = ?, head = ? where id = ?')
      .run(this.#seq, this.#head, this.#projectId)
  }

  async #apply(db: Kysely<Tables>, row: ProjectEventTable): Promise<ReplayError | null> {
    if (!isNextEntry(row, { seq: this.#seq, hash: this.#head })) return brokenChainAt(this.#seq + 1)
    const { seq, recordedAt, actor, body } = projectEventOf(row)
    const error = await tryReplayStep(seq, () =>
      projectEventIntoTables({ db, projectId: this.#projectId, seq, at: recordedAt, actor }, body),
    )
    if (error) return error
    this.#seq = seq
    this.#head = row.hash
    return null
  }

  close(): void {
    this.#open.retire()
  }
}

function brokenChainAt(seq: number): ReplayError {
  return { seq, kind: 'chain', why: 'it, or one before it, was changed outside Waymark' }
}

async function tryReplayStep(seq: number, work: () => Promise<void>): Promise<ReplayError | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (error instanceof Failure) throw error
    return { seq, kind: 'projection', why: messageOf(error) }
  }
}

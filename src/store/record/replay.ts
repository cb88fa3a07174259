import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database, { type Database as Connection } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { beforeFirst, type FactTable, factOf, follows } from '../../events/log/journal.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import { schemaVersion } from '../schema/schema.ts'
import { openScratch, openTemporary } from '../sqlite/connection.ts'
import { createTables } from '../sqlite/create.ts'
import { connected, type OpenConnection } from '../sqlite/driver.ts'
import { breath } from '../sqlite/waiting.ts'
import { projectFact } from '../tables/projections.ts'
import type { Tables } from '../tables/tables.ts'

const atOnce = 500

/** A store that has nothing but what the facts made. */
export interface Replay {
  readonly database: Connection
  /** The last fact that was applied. */
  readonly seq: number
  readonly head: string
  /** Why it went no further; null when every fact follows from the one before and could be applied. */
  readonly trouble: ReplayTrouble | null
  /** Applies the facts that came since. */
  follow(journal: Connection): Promise<void>
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
  journal: Connection,
  projectId: string,
  file: ReplayFile | null = null,
): Promise<Replay> {
  const database = file === null ? openTemporary() : openScratch(file.path)
  try {
    await createTables(database)
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

  get database(): Connection {
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

  async follow(journal: Connection): Promise<void> {
    const following = journal.prepare<unknown[], FactTable>(
      `select * from fact where project_id = ? and seq > ? order by seq limit ${atOnce}`,
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
        if (rows.length < atOnce) return
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

const name = 'replayed.db'
const scratch = /^replayed-[0-9a-f]{16}\.db(?:-journal)?$/
/** Milliseconds after which a scratch file belongs to a process that was killed. */
const forgotten = 60 * 60_000

export interface KeptReplays {
  /** The folder outside the project that is private to its user. */
  readonly folder: string
  /** The version of the program: another one may make other tables of the same facts. */
  readonly program: string
}

/** A replay in a scratch file. Who ends it says whether it is kept for the next one. */
export interface ScratchReplay {
  readonly replayed: Replay
  /** How many of its facts an earlier replay had applied. */
  readonly from: number
  end(kept: 'kept' | 'dropped'): void
}

/**
 * Goes on from where the last replay was kept, or begins with the first fact. Where that cannot be kept at all, in
 * a file without a name.
 * Whoever goes on must have checked the journal up to there.
 */
export async function scratchReplay(
  journal: Connection,
  projectId: string,
  { kept, fresh }: { readonly kept: KeptReplays | null; readonly fresh: boolean },
): Promise<ScratchReplay> {
  const path = kept === null ? null : newScratch(kept)
  if (kept === null || path === null) {
    const replayed = await replay(journal, projectId)
    return { replayed, from: 0, end: () => replayed.close() }
  }
  try {
    const file = (fresh ? null : await earlier(path, journal, { ...kept, projectId })) ?? empty(path)
    const replayed = await replay(journal, projectId, file)
    return {
      replayed,
      from: file.seq,
      end: (whether) => {
        try {
          if (whether === 'kept') sign(replayed, { projectId, program: kept.program })
        } finally {
          replayed.close()
        }
        if (whether === 'kept') renameSync(path, join(kept.folder, name))
        else remove(path)
      },
    }
  } catch (error) {
    remove(path)
    throw error
  }
}

/** The name of a file for its owner alone; null where none can be written. */
function newScratch({ folder }: KeptReplays): string | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    sweep(folder)
    const path = join(folder, `replayed-${randomBytes(8).toString('hex')}.db`)
    writeFileSync(path, '', { mode: 0o600 })
    return path
  } catch {
    return null
  }
}

function empty(path: string): ReplayFile {
  writeFileSync(path, '')
  return { path, seq: 0, head: beforeFirst }
}

interface Signed {
  readonly key: string
  readonly seq: number
  readonly head: string
}

/** A copy of what was kept, where this program made it of these very facts. */
async function earlier(
  path: string,
  journal: Connection,
  { folder, program, projectId }: KeptReplays & { readonly projectId: string },
): Promise<ReplayFile | null> {
  const from = join(folder, name)
  if (!existsSync(from)) return null
  try {
    await copyFile(from, path)
    chmodSync(path, 0o600)
    const signed = signatureIn(path)
    if (signed?.key !== keyOf({ projectId, program })) return null
    const there = journal.prepare('select 1 from fact where project_id = ? and seq = ? and hash = ?')
    if (there.get(projectId, signed.seq, signed.head) === undefined) return null
    return { path, seq: signed.seq, head: signed.head }
  } catch {
    return null // what cannot be read is made again
  }
}

function signatureIn(path: string): Signed | undefined {
  const database = new Database(path, { readonly: true })
  try {
    return database.prepare<unknown[], Signed>('select key, seq, head from replayed').get()
  } finally {
    database.close()
  }
}

function sign(
  { database, seq, head }: Replay,
  of: { readonly projectId: string; readonly program: string },
): void {
  database.exec(
    'create table if not exists replayed (key text, seq integer, head text); delete from replayed',
  )
  database.prepare('insert into replayed values (?, ?, ?)').run(keyOf(of), seq, head)
}

function keyOf({ projectId, program }: { readonly projectId: string; readonly program: string }): string {
  return JSON.stringify([projectId, program, schemaVersion])
}

function sweep(folder: string): void {
  for (const found of readdirSync(folder)) {
    if (!scratch.test(found)) continue
    const path = join(folder, found)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat && Date.now() - stat.mtimeMs > forgotten) rmSync(path, { force: true })
  }
}

function remove(path: string): void {
  rmSync(path, { force: true })
}

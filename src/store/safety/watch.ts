import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database, Statement } from 'better-sqlite3'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { Failure } from '../../kernel/failure.ts'
import { writePrivate } from '../../kernel/files/private-file.ts'
import { instant } from '../../kernel/instant.ts'
import { isJsonObject } from '../../kernel/json.ts'
import { openReadOnly } from '../sqlite/connection.ts'
import type { DatabaseLoss } from '../sqlite/database-file.ts'
import { copyToNew, stamp } from './copy.ts'

const missing = { reason: 'database_missing', what: 'is gone or empty' }
const replaced = { reason: 'database_replaced', what: 'was cut or replaced' }

/** What this process knows of a record, from its own calls and from the anchor: what was there must still be there. */
export class RecordWatch {
  readonly #file: string
  readonly #anchor: Anchor
  readonly #folder: string | null
  #known: AnchorPoint | null = null
  #knownAt = 0
  #lineage: string | null = null
  /** Where what this process still held of a lost database was saved. */
  #rescued: string | null = null

  constructor(file: string, anchor: Anchor, folder: string | null) {
    this.#file = file
    this.#anchor = anchor
    this.#folder = folder
  }

  /** Fails when the record lacks a log entry that it held. Answers whether a person put another record in its place. */
  assertIntact(database: Database): boolean {
    this.#begin()
    if (this.#known === null || hasPoint(database, this.#known)) return false
    if (this.#isVouchedFor((point) => hasPoint(database, point))) return true
    if (this.#isThereNow(this.#known)) return false
    throw this.failure(countEvents(database))
  }

  /** Fails when there is no database where there was one. */
  assertNone(): void {
    this.#begin()
    if (this.#known === null || this.#isVouchedFor(() => false) || this.#isThereNow(this.#known)) return
    throw this.failure(null)
  }

  /** Remembers where the log is now. Only who wrote has the anchor written. */
  learn(head: AnchorPoint | null, { wrote }: { readonly wrote: boolean }): void {
    if (!head || head.seq === 0) return
    if (this.#known?.hash !== head.hash) {
      this.#known = head
      this.#knownAt = Date.now()
      this.#rescued = null
    }
    this.#lineage ??= newLineage()
    if (wrote) this.#anchor.keep({ point: this.#known, lineage: this.#lineage, at: this.#knownAt })
  }

  /** A journal that holds what is known may be restored where the database is gone. */
  expect(events: readonly ProjectEvent[]): void {
    this.#begin()
    if (this.#known && events[this.#known.seq - 1]?.hash === this.#known.hash) this.#known = null
  }

  /** What was known is in a record that is being brought here. */
  forget(): void {
    this.#begin()
    this.#known = null
  }

  /** Before a connection to a database that was lost is closed: saves what it still holds. */
  async lost(loss: DatabaseLoss, database: Database): Promise<void> {
    this.#begin()
    this.#anchor.flush()
    if (this.#known === null) return
    this.#rescued = (await this.#rescue(database)) ?? this.#rescued
    if (loss === 'log') throw this.#lostLog()
  }

  /** What the anchor says beside what is there; null when they agree. */
  error(database: Database | null): Failure | null {
    try {
      if (database) this.assertIntact(database)
      else this.assertNone()
      return null
    } catch (error) {
      if (error instanceof Failure) return error
      throw error
    }
  }

  get known(): AnchorPoint | null {
    this.#begin()
    return this.#known
  }

  failure(events: number | null): Failure {
    const { reason, what } = events === null ? missing : replaced
    const { seq = 0 } = this.#known ?? {}
    const now = events === null ? '' : ` It holds ${events} now, and not the last of those.`
    return new Failure(
      'UNAVAILABLE',
      `The database ${this.#file} ${what}: its log held ${seq} log entries on ${instant(this.#knownAt)}.${now} Nothing was recorded.`,
      { reason, hint: this.#wayBack() },
    )
  }

  #wayBack(): string {
    const from = this.#rescued ?? '<file>'
    const saved = this.#rescued === null ? '' : `What this process still held was saved in ${this.#rescued}. `
    return `${saved}A person can restore a backup with \`waymark restore ${from}\`, or trust the current record with \`waymark doctor --trust\`.`
  }

  #lostLog(): Failure {
    const saved = this.#rescued === null ? '' : ` A copy of everything is in ${this.#rescued}.`
    return new Failure(
      'UNAVAILABLE',
      `The log ${this.#file}-wal was removed while the database was in use. Nothing was recorded.${saved}`,
      {
        reason: 'database_log_removed',
        hint: 'Call again: what this process held is written back when it opens the database again. If it is refused, end the Waymark servers of this project and start them again.',
      },
    )
  }

  /** What the anchor says is known before anything was read. */
  #begin(): void {
    if (this.#lineage !== null) return
    const anchored = this.#anchor.read()
    this.#lineage = anchored?.lineage ?? newLineage()
    this.#known = anchored?.point ?? null
    this.#knownAt = anchored?.at ?? 0
  }

  /**
   * Whether the file holds it at this moment. A transaction sees the state in which it began, and another process may have
   * written since, and anchored it.
   */
  #isThereNow(point: AnchorPoint): boolean {
    if (!existsSync(this.#file)) return false
    try {
      const database = openReadOnly(this.#file)
      try {
        return hasPoint(database, point)
      } finally {
        database.close()
      }
    } catch {
      return false // no database, or one without facts
    }
  }

  /** Whether a person restored a backup, or took the record as it is, since this process began. */
  #isVouchedFor(isThere: (point: AnchorPoint) => boolean): boolean {
    const anchored = this.#anchor.read()
    const vouched = [anchored, anchored?.before].find(
      (state) => state && state.lineage !== this.#lineage && (state.point === null || isThere(state.point)),
    )
    if (!vouched) return false
    this.#lineage = vouched.lineage
    this.#known = vouched.point
    this.#knownAt = vouched.at
    return true
  }

  async #rescue(database: Database): Promise<string | null> {
    const folder = this.#folder ?? (existsSync(dirname(this.#file)) ? dirname(this.#file) : null)
    if (folder === null || this.#known === null) return null
    const target = join(folder, `rescued-${stamp(Date.now())}-${process.pid}.db`)
    try {
      if (!hasPoint(database, this.#known)) return null
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      await copyToNew(database, target)
      return target
    } catch {
      return null // what was lost cannot be read any more
    }
  }
}

const asking = new WeakMap<Database, { readonly items: Statement; readonly head: Statement }>()

function watchStatements(database: Database) {
  const known = asking.get(database)
  if (known) return known
  const statements = {
    items: database
      .prepare('select 1 from project_event where project_id = ? and seq = ? and hash = ?')
      .pluck(),
    head: database.prepare('select seq, head as hash from project where id = ?'),
  }
  asking.set(database, statements)
  return statements
}

function hasPoint(database: Database, { projectId, seq, hash }: AnchorPoint): boolean {
  return watchStatements(database).items.get(projectId, seq, hash) !== undefined
}

export function pointIn(database: Database, projectId: string): AnchorPoint | null {
  const head = watchStatements(database).head.get(projectId) as Pick<AnchorPoint, 'seq' | 'hash'> | undefined // a driver's row
  return head ? { projectId, ...head } : null
}

function countEvents(database: Database): number {
  return Number(database.prepare('select count(*) from project_event').pluck().get())
}

/** A log entry that a log held: it still does, unless it was cut or replaced. */
export interface AnchorPoint {
  readonly projectId: string
  readonly seq: number
  readonly hash: string
}

export interface AnchorState extends AnchoredRecord {
  /** While the record is being replaced: the one that others may still see. */
  readonly before?: AnchoredRecord
}

interface AnchoredRecord {
  /** Null where there was no record yet. */
  readonly point: AnchorPoint | null
  /** Another one means that a person restored a backup, or took the record as it is: what was known before is over. */
  readonly lineage: string
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
}

// Milliseconds between two writes. What is anchored may lag behind the log; it is never ahead of it.
const pause = 50

/** Where a log had come to, in a file outside the database. Written after the commits that it tells of. */
export class Anchor {
  readonly #path: string | null
  #due: AnchorState | null = null
  #timer: NodeJS.Timeout | null = null
  /** When it was written last, of `performance.now`. */
  #written = -pause

  constructor(path: string | null) {
    this.#path = path
  }

  /** Null where there is none, or none that can be read. */
  read(): AnchorState | null {
    if (this.#path === null) return null
    try {
      return parseAnchored(JSON.parse(readFileSync(this.#path, 'utf8')))
    } catch {
      return null
    }
  }

  /** Writes it soon, unless it is of another lineage by then, or further on. */
  keep(anchored: AnchorState): void {
    if (this.#path === null) return
    this.#due = anchored
    if (this.#timer !== null) return
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.flush()
      },
      Math.max(0, this.#written + pause - performance.now()),
    ).unref()
  }

  flush(): void {
    const due = this.#due
    this.#due = null
    if (due === null) return
    const now = this.read()
    if (now && (now.lineage !== due.lineage || (now.point?.seq ?? 0) > (due.point?.seq ?? 0))) return
    this.#written = performance.now()
    // Without it nothing is lost but the check: no reason to fail a call that was recorded.
    try {
      this.#write(due)
    } catch {}
  }

  /** Begins another lineage at once: a person vouches for what is there. Fails where it cannot be written. */
  begin(point: AnchorPoint | null, at: number): void {
    this.#due = null
    this.#write({ point, lineage: newLineage(), at })
  }

  /**
   * Vouches for both records while one is replaced by another: a reader may see either, and a process that is killed
   * leaves either. Afterwards only for the one that is there.
   */
  async replace(point: AnchorPoint, at: number, replace: () => Promise<void>): Promise<void> {
    this.#due = null
    const found = this.read()
    const before = found && !found.before ? found : { point: null, lineage: newLineage(), at }
    const next = { point, lineage: newLineage(), at }
    this.#write({ ...next, before })
    try {
      await replace()
    } catch (error) {
      this.#write(before)
      throw error
    }
    // Without it both stay vouched for: no reason to fail what was done.
    try {
      this.#write(next)
    } catch {}
  }

  #write(anchored: AnchorState): void {
    if (this.#path === null) return
    writePrivate(this.#path, JSON.stringify({ version: 1, ...anchored }))
  }
}

// No secret: it only has to be another than the one before. A hook would load for it all that makes secrets.
function newLineage(): string {
  return Math.random().toString(16).slice(2).padEnd(13, '0')
}

function parseAnchored(value: unknown): AnchorState | null {
  const anchored = parseAnchoredRecord(value)
  if (anchored === null || !isJsonObject(value)) return null
  const before = parseAnchoredRecord(value['before'])
  return before === null ? anchored : { ...anchored, before }
}

function parseAnchoredRecord(value: unknown): AnchoredRecord | null {
  if (!isJsonObject(value) || typeof value['lineage'] !== 'string' || typeof value['at'] !== 'number')
    return null
  const { lineage, at, point } = value
  if (point === null) return { point, lineage, at }
  if (!isJsonObject(point)) return null
  const { projectId, seq, hash } = point
  if (typeof projectId !== 'string' || typeof seq !== 'number' || typeof hash !== 'string') return null
  return { point: { projectId, seq, hash }, lineage, at }
}

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database, Statement } from 'better-sqlite3'
import { Failure } from '../../kernel/failure.ts'
import { writePrivate } from '../../kernel/files/private-file.ts'
import { instant } from '../../kernel/instant.ts'
import { isJsonObject } from '../../kernel/json.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import type { LogSource } from '../ports/record-rows.ts'
import { openReadOnly } from '../sqlite/connection.ts'
import type { DatabaseLoss } from '../sqlite/database-file.ts'
import { copyToNew, stamp } from './copy.ts'

const missing = { reason: 'database_missing', problem: 'is gone or empty' }
const replaced = { reason: 'database_replaced', problem: 'was cut or replaced' }

/** Checks that a record still has every log entry that this process or the anchor has seen. */
export class RecordWatch {
  readonly #file: string
  readonly #anchor: Anchor
  readonly #folder: string | null
  #lastPoint: AnchorPoint | null = null
  #lastPointAt = 0
  #lineage: string | null = null
  /** The copy of a lost database that this process saved. */
  #rescueFile: string | null = null

  constructor(file: string, anchor: Anchor, folder: string | null) {
    this.#file = file
    this.#anchor = anchor
    this.#folder = folder
  }

  /** Fails when the record lacks a log entry that it had. Returns whether a person replaced the record. */
  assertIntact(database: Database): boolean {
    this.#readAnchor()
    if (this.#lastPoint === null || hasPoint(database, this.#lastPoint)) return false
    if (this.#isTrusted((point) => hasPoint(database, point))) return true
    if (this.#isInFile(this.#lastPoint)) return false
    throw this.failure(countEvents(database))
  }

  /** Fails when the database is missing but existed before. */
  assertNone(): void {
    this.#readAnchor()
    if (this.#lastPoint === null || this.#isTrusted(() => false) || this.#isInFile(this.#lastPoint)) return
    throw this.failure(null)
  }

  /** Remembers the end of the log. Only a writer updates the anchor. */
  learn(head: AnchorPoint | null, { wrote }: { readonly wrote: boolean }): void {
    if (!head || head.seq === 0) return
    if (this.#lastPoint?.hash !== head.hash) {
      this.#lastPoint = head
      this.#lastPointAt = Date.now()
      this.#rescueFile = null
    }
    this.#lineage ??= newLineage()
    if (wrote) this.#anchor.keep({ point: this.#lastPoint, lineage: this.#lineage, at: this.#lastPointAt })
  }

  /** A log that contains the last known entry may be restored where the database is missing. */
  async expect(log: LogSource): Promise<void> {
    this.#readAnchor()
    const point = this.#lastPoint
    if (point && (await log.eventAt(point.seq))?.hash === point.hash) this.#lastPoint = null
  }

  /** The last known entry is in a record that is about to replace this one. */
  forget(): void {
    this.#readAnchor()
    this.#lastPoint = null
  }

  /** This process has replaced the record: the anchor, if there is one, says what it has to have. */
  restart(): void {
    this.#lineage = null
    this.#lastPoint = null
  }

  /** Saves the content of a lost database before its connection is closed. */
  async rescueLost(loss: DatabaseLoss, database: Database): Promise<void> {
    this.#readAnchor()
    this.#anchor.flush()
    if (this.#lastPoint === null) return
    this.#rescueFile = (await this.#rescue(database)) ?? this.#rescueFile
    if (loss === 'log') throw this.#lostLog()
  }

  /** The difference between the anchor and the record; null when they agree. */
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

  get lastPoint(): AnchorPoint | null {
    this.#readAnchor()
    return this.#lastPoint
  }

  failure(events: number | null): Failure {
    const { reason, problem } = events === null ? missing : replaced
    const { seq = 0 } = this.#lastPoint ?? {}
    const now = events === null ? '' : ` It has ${events} now, without the last of those.`
    return new Failure(
      'UNAVAILABLE',
      `The database ${this.#file} ${problem}: its log held ${seq} log entries at ${instant(this.#lastPointAt)}.${now} Nothing was recorded.`,
      { reason, hint: this.#recoveryHint() },
    )
  }

  #recoveryHint(): string {
    const from = this.#rescueFile === null ? '<file>' : quoteShellWord(this.#rescueFile)
    const saved =
      this.#rescueFile === null ? '' : `This process saved its unwritten entries in ${this.#rescueFile}. `
    return `${saved}A person can restore a backup with \`waymark backup restore ${from}\`, or trust the current record with \`waymark doctor --trust\`.`
  }

  #lostLog(): Failure {
    const saved = this.#rescueFile === null ? '' : ` A copy of everything is in ${this.#rescueFile}.`
    return new Failure(
      'UNAVAILABLE',
      `The log ${this.#file}-wal was removed while the database was in use. Nothing was recorded.${saved}`,
      {
        reason: 'database_log_removed',
        hint: 'Call again: this process then writes its entries back. If that is refused, restart the Waymark servers of this project.',
      },
    )
  }

  /** Reads the anchor before anything else is known. */
  #readAnchor(): void {
    if (this.#lineage !== null) return
    const anchored = this.#anchor.read()
    this.#lineage = anchored?.lineage ?? newLineage()
    this.#lastPoint = anchored?.point ?? null
    this.#lastPointAt = anchored?.at ?? 0
  }

  /** Whether the file has it now: a transaction only sees the state in which it began. */
  #isInFile(point: AnchorPoint): boolean {
    if (!existsSync(this.#file)) return false
    try {
      const database = openReadOnly(this.#file)
      try {
        return hasPoint(database, point)
      } finally {
        database.close()
      }
    } catch {
      return false // no database, or one without a log
    }
  }

  /** Whether a person restored a backup or trusted the record since this process began. */
  #isTrusted(hasAnchorPoint: (point: AnchorPoint) => boolean): boolean {
    const anchored = this.#anchor.read()
    const trusted = [anchored, anchored?.before].find(
      (state) =>
        state && state.lineage !== this.#lineage && (state.point === null || hasAnchorPoint(state.point)),
    )
    if (!trusted) return false
    this.#lineage = trusted.lineage
    this.#lastPoint = trusted.point
    this.#lastPointAt = trusted.at
    return true
  }

  async #rescue(database: Database): Promise<string | null> {
    const folder = this.#folder ?? (existsSync(dirname(this.#file)) ? dirname(this.#file) : null)
    if (folder === null || this.#lastPoint === null) return null
    const target = join(folder, `rescued-${stamp(Date.now())}-${process.pid}.db`)
    try {
      if (!hasPoint(database, this.#lastPoint)) return null
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      await copyToNew(database, target)
      return target
    } catch {
      return null // the lost content is unreadable
    }
  }
}

const preparedStatements = new WeakMap<Database, { readonly items: Statement; readonly head: Statement }>()

function watchStatements(database: Database) {
  const existing = preparedStatements.get(database)
  if (existing) return existing
  const statements = {
    items: database
      .prepare('select 1 from project_event where project_id = ? and seq = ? and hash = ?')
      .pluck(),
    head: database.prepare('select seq, head as hash from project where id = ?'),
  }
  preparedStatements.set(database, statements)
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

/** An entry that a log had; it still has it unless it was cut or replaced. */
export interface AnchorPoint {
  readonly projectId: string
  readonly seq: number
  readonly hash: string
}

export interface AnchorState extends AnchoredRecord {
  /** During a replacement: the record that others may still see. */
  readonly before?: AnchoredRecord
}

interface AnchoredRecord {
  /** Null where there was no record yet. */
  readonly point: AnchorPoint | null
  /** Changes when a person restores a backup or trusts the record: earlier entries no longer count. */
  readonly lineage: string
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
}

// Milliseconds between two writes. The anchor may lag behind the log; it is never ahead of it.
const writeInterval = 50

/** The end of a log, stored in a file outside the database. Written after the commits it records. */
export class Anchor {
  readonly #path: string | null
  #due: AnchorState | null = null
  #timer: NodeJS.Timeout | null = null
  /** The time of the last write, of `performance.now`. */
  #written = -writeInterval

  constructor(path: string | null) {
    this.#path = path
  }

  /** Null where there is no readable anchor. */
  read(): AnchorState | null {
    if (this.#path === null) return null
    try {
      return parseAnchored(JSON.parse(readFileSync(this.#path, 'utf8')))
    } catch {
      return null
    }
  }

  /** Writes it soon, unless the file by then has another lineage or a later entry. */
  keep(anchored: AnchorState): void {
    if (this.#path === null) return
    this.#due = anchored
    if (this.#timer !== null) return
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.flush()
      },
      Math.max(0, this.#written + writeInterval - performance.now()),
    ).unref()
  }

  flush(): void {
    const pending = this.#due
    this.#due = null
    if (pending === null) return
    const now = this.read()
    if (now && (now.lineage !== pending.lineage || (now.point?.seq ?? 0) > (pending.point?.seq ?? 0))) return
    this.#written = performance.now()
    // Only the check is lost: no reason to fail a recorded call.
    try {
      this.#write(pending)
    } catch {}
  }

  /** Starts a new lineage at once: a person trusts the record. Fails where it cannot be written. */
  begin(point: AnchorPoint | null, at: number): void {
    this.#due = null
    this.#write({ point, lineage: newLineage(), at })
  }

  /** Trusts both records during a replacement, since a killed process may leave either; afterwards only the new one. */
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
    // Both records stay trusted then: no reason to fail a finished replacement.
    try {
      this.#write(next)
    } catch {}
  }

  #write(anchored: AnchorState): void {
    if (this.#path === null) return
    writePrivate(this.#path, JSON.stringify({ version: 1, ...anchored }))
  }
}

// Only has to differ from the one before. Loading a module for secrets would slow down hooks.
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

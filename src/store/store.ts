import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import type { ProjectEvent } from '../events/domain/project-event.ts'
import { Followers } from '../events/log/follow.ts'
import { Failure } from '../kernel/failure.ts'
import type { IdSource } from '../kernel/id.ts'
import {
  isProjectEnded,
  type ProjectState,
  projectState,
  readOnlyNotice,
} from '../project/tables/project-end.ts'
import type { LogSource, SideRow } from './ports/record-rows.ts'
import type {
  BackupRestoreResult,
  BackupResult,
  ChainInspection,
  Idempotency,
  Inspection,
  LogRestoreOptions,
  LogRestoreResult,
  Reads,
  RecordRequest,
  RepairResult,
  Store,
  StoreHealth,
} from './ports/store.ts'
import { storedAnswer } from './record/idempotency.ts'
import { keptRowsIn } from './record/kept-rows.ts'
import { type ResolvedProject, resolveProject, writeIgnore, writeProjectId } from './record/project.ts'
import { record } from './record/record.ts'
import { DivergedRecordFailure, restoreProject } from './record/restore.ts'
import { copyToNew } from './safety/copy.ts'
import { inspectChain, inspectRecord, isDamaged } from './safety/inspection.ts'
import { repairRecord } from './safety/repair.ts'
import { restoreFromBackup } from './safety/restore-backup.ts'
import { Anchor, pointIn, RecordWatch } from './safety/rollback-detection.ts'
import { numberOf, withSmallCache } from './sqlite/connection.ts'
import { canWriteLog, DatabaseFile, emptyDatabase } from './sqlite/database-file.ts'
import { ConnectionRetired, connectDriver, type OpenConnection } from './sqlite/driver.ts'
import { damagedFile, databaseUnavailable } from './sqlite/errors.ts'
import { type DatabaseFileState, eventLogIn } from './sqlite/event-log-polling.ts'
import { isBusy } from './sqlite/lock-retry.ts'
import { readsOf } from './tables/reads.ts'
import { indexTasks, isIndexDue } from './tables/search.ts'
import type { Tables } from './tables/tables.ts'

/** A store that opens its file at the first query, and creates it at the first record. */
export function openStore(options: StoreOptions): Store {
  return new SqliteStore(options)
}

export interface StoreOptions {
  /** Absolute path of the database; it need not exist yet. */
  readonly file: string
  /** The user named the file, so it may contain several projects. */
  readonly shared: boolean
  /** Absolute path of the project's root: the top of the main work tree. Empty for a project without a folder. */
  readonly root: string
  /** The id of a project without a folder. */
  readonly project?: string
  /** A new database keeps one side file that is never deleted, for sandboxes that forbid deleting. */
  readonly sandboxJournal: boolean
  /** The folder outside the project for the anchor of its log; without one there is no anchor. */
  readonly anchorFolder?: string
  readonly ids: IdSource
}

const noProject = ''

const nothingRecorded: Omit<Inspection, 'anchor'> = {
  events: 0,
  brokenAt: null,
  error: null,
  damage: [],
  tables: 0,
  rows: 0,
  differing: 0,
  differences: [],
}

class SqliteStore implements Store {
  readonly #options: StoreOptions
  readonly #database: DatabaseFile
  readonly #anchor: Anchor
  readonly #watch: RecordWatch
  readonly #followers: Followers<DatabaseFileState>
  // Cached per connection: a replaced file is reopened and its project searched again.
  readonly #resolved = new WeakMap<Kysely<Tables>, ResolvedProject>()
  #folderHidden = false
  #folderWritten = false
  #notice: string | null = null
  readonly #pending = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(options: StoreOptions) {
    this.#options = options
    const folder = options.anchorFolder ?? null
    this.#anchor = new Anchor(folder === null ? null : join(folder, 'anchor.json'))
    this.#watch = new RecordWatch(options.file, this.#anchor, folder)
    this.#database = new DatabaseFile(options.file, options.sandboxJournal, {
      onLoss: (loss, connection) => this.#watch.rescueLost(loss, connection),
      beginning: () => this.#watch.assertNone(),
    })
    this.#followers = new Followers(eventLogIn(options.file, options))
  }

  record<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    return this.#withFailures(async () => {
      try {
        return await this.#recordIn(request)
      } catch (error) {
        if (!isProjectEnded(error) || !(await this.#isReplaced())) throw error
        return this.#recordIn(request)
      }
    })
  }
  view<Answer>(read: (reads: Reads) => Promise<Answer>): Promise<Answer> {
    return this.#reading((db, projectId) => read(readsOf({ db, projectId })))
  }

  replay(idempotency: Idempotency): Promise<{ readonly answer: unknown } | null> {
    return this.#reading((db, projectId) => storedAnswer(db, projectId, idempotency))
  }

  async restore(log: LogSource, restoring?: LogRestoreOptions): Promise<LogRestoreResult> {
    if (!restoring?.replace || this.#options.shared) return this.#restoreInPlace(log, restoring)
    try {
      if (await this.#isContinuedBy(log)) return await this.#restoreInPlace(log, restoring)
    } catch (error) {
      // An unreadable record is set aside unchanged.
      if (
        !(error instanceof Failure) ||
        (error.code !== 'UNAVAILABLE' && !(error instanceof DivergedRecordFailure))
      )
        throw error
    }
    return this.#restoreAside(log, restoring)
  }

  sideRows(after: SideRow | null, limit: number): Promise<readonly SideRow[]> {
    return this.#reading((db, projectId) => keptRowsIn(db, { projectId, after, limit }))
  }

  inspect(): Promise<Inspection> {
    return this.#withFailures(async () => {
      const open = await this.#database.forReading()
      const found = open
        ? await inspectRecord(this.#options.file, await this.#projectIn(open.db))
        : nothingRecorded
      return { ...found, anchor: this.#anchorBeside(open?.raw ?? null) }
    })
  }

  inspectChain(): Promise<ChainInspection> {
    return this.#withFailures(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      const found = projectId === null ? nothingRecorded : await inspectChain(this.#options.file, projectId)
      return { events: found.events, brokenAt: found.brokenAt, anchor: this.#anchorBeside(open?.raw ?? null) }
    })
  }

  repair(at: number): Promise<RepairResult> {
    return this.#withFailures(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      if (projectId === null) throw noRecordToRepair(this.#options.file)
      return repairRecord({ file: this.#options.file, projectId, at })
    })
  }

  accept(at: number): Promise<number> {
    return this.#withFailures(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      const point = open && projectId !== null ? pointIn(open.raw, projectId) : null
      this.#anchor.begin(point, at)
      return point?.seq ?? 0
    })
  }

  async notice(): Promise<string | null> {
    return this.#notice
  }

  backup(named: string): Promise<BackupResult> {
    const file = resolve(named)
    return this.#withFailures(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      if (!open || projectId === null) throw noRecordToBackUp(this.#options.file)
      await copyToNew(open.raw, file)
      return { file, bytes: statSync(file).size, events: pointIn(open.raw, projectId)?.seq ?? 0 }
    })
  }

  putBack(named: string, at: number): Promise<BackupRestoreResult> {
    const backup = resolve(named)
    return this.#withFailures(async () => {
      await this.#database.forget()
      const restored = await restoreFromBackup({
        file: this.#options.file,
        backup,
        at,
        anchor: this.#anchor,
        sandboxJournal: this.#options.sandboxJournal,
        projectIn: (database) => this.#projectIn(connectDriver(database, 'read').db),
      })
      this.#watch.restart()
      return restored
    })
  }

  health(): Promise<StoreHealth> {
    return healthOf(this.#options.file, {
      open: () => this.#withFailures(() => this.#database.forReading()),
      state: () => this.#withFailures(() => this.#state()),
    })
  }

  async unreadiness(): Promise<string | null> {
    try {
      await this.#withFailures(() => this.#database.forReading())
      return null
    } catch (error) {
      if (error instanceof Failure) return error.message
      throw error
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<readonly ProjectEvent[]> {
    try {
      const either = AbortSignal.any([signal, this.#closing.signal])
      yield* this.#followers.follow(after, either)
    } catch (error) {
      throw databaseUnavailable(error, this.#options.file)
    }
  }

  /** Ends the followers and waits for pending calls. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#pending)
    await this.#database.forget()
    this.#anchor.flush()
  }

  async #recordIn<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    const { db, raw } = await this.#database.forWriting()
    this.#hideFolder()
    const { answer, project, last, point } = await db.transaction().execute(async (transaction) => {
      this.#assertIntact({ db, raw })
      const found = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
      const recorded = await record(transaction, request, { ...this.#options, found })
      // Read before the commit: a lock afterwards must not make a recorded call fail.
      return { ...recorded, point: recorded.project && pointIn(raw, recorded.project.id) }
    })
    if (project) {
      this.#resolved.set(db, project)
      // A write to a deleted file is not acknowledged: the call is retried.
      await this.#database.assertStands()
      this.#watch.learn(point, { wrote: true })
      this.#writeFolder(project.id)
      if (last && isIndexDue(last)) await indexRecordedTasks(db, project.id)
    }
    return answer
  }

  /** Whether another project of a shared file has replaced the open one. */
  async #isReplaced(): Promise<boolean> {
    const { db } = await this.#database.forWriting()
    const before = this.#resolved.get(db)
    this.#resolved.delete(db)
    const now = await db.transaction().execute((transaction) => resolveProject(transaction, this.#options))
    return now?.id !== before?.id
  }

  /** Also for a record that lacks earlier entries. */
  async #state(): Promise<ProjectState | null> {
    const open = await this.#database.forReading()
    const projectId = open && (await this.#projectIn(open.db))
    return open && projectId !== null ? projectState(open.db, projectId) : null
  }

  /** Whether the log continues this folder's record, or there is none. */
  #isContinuedBy(log: LogSource): Promise<boolean> {
    return this.#withFailures(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      if (!open || projectId === null) return true
      const first = await log.eventAt(1)
      return first?.body.kind === 'project.created' && first.body.id === projectId
    })
  }

  #restoreInPlace(log: LogSource, restoring: LogRestoreOptions | undefined): Promise<LogRestoreResult> {
    return this.#withFailures(async () => {
      const { root, file } = this.#options
      await this.#watch.expect(log)
      const { db, raw } = await this.#database.forWriting()
      this.#hideFolder()
      const restore = async (transaction: Kysely<Tables>) => {
        const found = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
        const result = await restoreProject(transaction, log, { ...restoring, root, label: file, found })
        await indexTasks({ db: transaction, projectId: result.project.id })
        return { ...result, point: pointIn(raw, result.project.id) }
      }
      const { project, point, ...restored } = await withSmallCache(raw, () =>
        db.transaction().execute(restore),
      )
      this.#resolved.set(db, project)
      this.#watch.learn(point, { wrote: true })
      this.#writeFolder(project.id)
      return restored
    })
  }

  /** Restores into a new file, which then replaces this one; this one is kept under another name. */
  async #restoreAside(log: LogSource, restoring: LogRestoreOptions): Promise<LogRestoreResult> {
    const { file, ids, root } = this.#options
    const incoming = `${file}.importing-${randomBytes(6).toString('hex')}`
    const store = openStore({ file: incoming, shared: false, root, sandboxJournal: false, ids })
    try {
      const restored = await store.restore(log, { ...restoring, replace: false })
      await store.close()
      const { kept } = await this.putBack(incoming, restoring.at)
      return { ...restored, setAside: kept }
    } finally {
      await store.close()
      for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${incoming}${end}`, { force: true })
    }
  }

  #projectIn(db: Kysely<Tables>): Promise<string | null> {
    return db.transaction().execute(async (transaction) => {
      return (await resolveProject(transaction, this.#options))?.id ?? null
    })
  }

  #anchorBeside(database: Database | null): Inspection['anchor'] {
    if (!this.#anchor.read()) return null
    const error = this.#watch.error(database)
    if (error) return { ok: false, says: [error.message, error.hint].filter(Boolean).join(' ') }
    return { ok: true, says: `log entry ${this.#watch.lastPoint?.seq ?? 0} is where it was` }
  }

  /** A record that a person restored may belong to another project. */
  #assertIntact({ db, raw }: Pick<OpenConnection, 'db' | 'raw'>): void {
    if (this.#watch.assertIntact(raw)) this.#resolved.delete(db)
  }

  #reading<Answer>(read: (db: Kysely<Tables>, projectId: string) => Promise<Answer>): Promise<Answer> {
    return this.#withFailures(async () => {
      const open = await this.#database.forReading()
      if (!open) this.#watch.assertNone()
      const db = open?.db ?? (await emptyDatabase())
      return db.transaction().execute(async (transaction) => {
        if (open) this.#assertIntact(open)
        const project = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
        if (project) this.#resolved.set(db, project)
        const state = project && (await projectState(transaction, project.id))
        if (project && state) {
          const { seq, hash } = state
          this.#watch.learn({ projectId: project.id, seq, hash }, { wrote: false })
        }
        this.#notice = readOnlyNotice(state)
        return read(transaction, project?.id ?? noProject)
      })
    })
  }

  async #withFailures<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#closing.signal.aborted)
      throw new Failure('UNAVAILABLE', `The store of ${this.#options.file} is closed.`, {
        reason: 'store_closed',
      })
    const answer = this.#recovering(work)
    this.#pending.add(answer)
    try {
      return await answer
    } finally {
      this.#pending.delete(answer)
    }
  }

  /** Reopens the connections after a disk error, so that the store recovers with the disk. */
  async #recovering<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ConnectionRetired) return this.#recovering(work)
      const { file } = this.#options
      const failure = databaseUnavailable(error, file)
      if (failure !== error && !isBusy(error)) await this.#database.forget()
      // Rows of a damaged page can break any code that reads them.
      if (!(failure instanceof Failure) && (await isDamaged(file))) throw damagedFile(error, file)
      throw failure
    }
  }

  /** Hides the database folder from git as soon as it exists, even if nothing is recorded. */
  #hideFolder(): void {
    if (this.#folderHidden) return
    this.#folderHidden = true
    const { project, shared, file } = this.#options
    if (project === undefined && !shared) writeIgnore(dirname(file))
  }

  #writeFolder(projectId: string): void {
    if (this.#folderWritten) return
    this.#folderWritten = true
    const { project, shared, root } = this.#options
    if (project === undefined && shared) writeProjectId(root, projectId)
  }
}

/** In a transaction of its own. Its failure is not the call's: searches also read what is not in the index. */
async function indexRecordedTasks(db: Kysely<Tables>, projectId: string): Promise<void> {
  await db
    .transaction()
    .execute((transaction) => indexTasks({ db: transaction, projectId }))
    .catch(() => undefined)
}

function noRecordToRepair(file: string): Failure {
  return new Failure('NOT_FOUND', `There is no record in ${file}: nothing was changed.`, {
    reason: 'record_not_found',
    hint: 'Restore a backup with `waymark backup restore <file>`.',
  })
}

function noRecordToBackUp(file: string): Failure {
  return new Failure('NOT_FOUND', `There is no record in ${file}: nothing was copied.`, {
    reason: 'record_not_found',
    hint: 'The first write creates the record.',
  })
}

interface ConnectionSource {
  open(): Promise<OpenConnection | null>
  state(): Promise<ProjectState | null>
}

/** The health of a database. An unusable one is reported as a warning. */
async function healthOf(file: string, source: ConnectionSource): Promise<StoreHealth> {
  const empty = {
    location: file,
    exists: false,
    journalMode: null,
    schemaVersion: null,
    seq: 0,
    ended: null,
    warnings: [],
  }
  try {
    const open = await source.open()
    if (!open) return empty
    const journalMode = modeOf(open, file)
    const state = await source.state()
    return {
      location: file,
      exists: true,
      journalMode,
      schemaVersion: numberOf(open.raw, 'user_version'),
      seq: state?.seq ?? 0,
      ended: readOnlyNotice(state),
      warnings: journalMode === 'memory' ? [memoryWarning(file)] : [],
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const hint = error.hint === undefined ? '' : ` ${error.hint}`
    return { ...empty, exists: true, warnings: [`${error.message}${hint}`] }
  }
}

// Only WAL mode is stored in the file; otherwise each process decides by its write access.
function modeOf({ raw }: OpenConnection, file: string): string {
  if (raw.pragma('journal_mode', { simple: true }) === 'wal') return 'wal'
  return canWriteLog(file) ? 'persist' : 'memory'
}

function memoryWarning(file: string): string {
  return `No file can be written beside ${file}, so its write-ahead log is in memory: a process killed while it writes may damage the database.`
}

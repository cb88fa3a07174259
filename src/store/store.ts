import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import type { ProjectEvent } from '../events/domain/project-event.ts'
import { Followers } from '../events/log/follow.ts'
import { Failure } from '../kernel/failure.ts'
import type { IdSource } from '../kernel/id.ts'
import { isProjectEnded, noticeOf, type ProjectState, projectState } from '../project/tables/project-end.ts'
import type { SideRow } from './ports/record-rows.ts'
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
import { DivergedRecordFailure, restore } from './record/restore.ts'
import { copyToNew } from './safety/copy.ts'
import { inspectChain, inspectRecord, isDamaged } from './safety/inspection.ts'
import { repairRecord } from './safety/repair.ts'
import { restoreFromBackup } from './safety/restore-backup.ts'
import { Anchor, pointIn, RecordWatch } from './safety/watch.ts'
import { type DatabaseFileState, eventLogIn } from './sqlite/changes.ts'
import { numberOf } from './sqlite/connection.ts'
import { canWriteLog, DatabaseFile, emptyDatabase } from './sqlite/database-file.ts'
import { ConnectionRetired, connectDriver, type OpenConnection } from './sqlite/driver.ts'
import { damagedFile, databaseUnavailable } from './sqlite/errors.ts'
import { isBusy } from './sqlite/lock-retry.ts'
import { readsOf } from './tables/reads.ts'
import type { Tables } from './tables/tables.ts'

/** A store that opens its file at the first question, and makes it at the first record. */
export function openStore(options: StoreOptions): Store {
  return new SqliteStore(options)
}

export interface StoreOptions {
  /** Absolute path of the database; it need not exist yet. */
  readonly file: string
  /** The file was named by the user, so that several projects may live in it. */
  readonly shared: boolean
  /** Absolute path of the project's root: the top of the main work tree. Empty for one that lives in no folder. */
  readonly root: string
  /** The id of a project that lives in no folder. */
  readonly project?: string
  /** A new database keeps one side file that is never deleted, for sandboxes that forbid deleting. */
  readonly sandboxJournal: boolean
  /** The folder outside the project that keeps where its log had come to; without one nothing is kept. */
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
  // By connection: a file that was replaced is opened again, and then the project is looked for again.
  readonly #resolved = new WeakMap<Kysely<Tables>, ResolvedProject>()
  #folderHidden = false
  #folderWritten = false
  #notice: string | null = null
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(options: StoreOptions) {
    this.#options = options
    const folder = options.anchorFolder ?? null
    this.#anchor = new Anchor(folder === null ? null : join(folder, 'anchor.json'))
    this.#watch = new RecordWatch(options.file, this.#anchor, folder)
    this.#database = new DatabaseFile(options.file, options.sandboxJournal, {
      lost: (loss, connection) => this.#watch.lost(loss, connection),
      beginning: () => this.#watch.assertNone(),
    })
    this.#followers = new Followers(eventLogIn(options.file, options))
  }

  record<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    return this.#answering(async () => {
      try {
        return await this.#recordIn(request)
      } catch (error) {
        if (!isProjectEnded(error) || !(await this.#isReplaced())) throw error
        return this.#recordIn(request)
      }
    })
  }
  view<Answer>(look: (reads: Reads) => Promise<Answer>): Promise<Answer> {
    return this.#reading((db, projectId) => look(readsOf({ db, projectId })))
  }

  replay(idempotency: Idempotency): Promise<{ readonly answer: unknown } | null> {
    return this.#reading((db, projectId) => storedAnswer(db, projectId, idempotency))
  }

  async restore(events: readonly ProjectEvent[], restoring?: LogRestoreOptions): Promise<LogRestoreResult> {
    if (!restoring?.replace || this.#options.shared) return this.#restoreInPlace(events, restoring)
    try {
      if (await this.#isContinuedBy(events)) return await this.#restoreInPlace(events, restoring)
    } catch (error) {
      // A record that cannot be read is set aside as it is.
      if (
        !(error instanceof Failure) ||
        (error.code !== 'UNAVAILABLE' && !(error instanceof DivergedRecordFailure))
      )
        throw error
    }
    return this.#restoreAside(events, restoring)
  }

  kept(after: SideRow | null, limit: number): Promise<readonly SideRow[]> {
    return this.#reading((db, projectId) => keptRowsIn(db, { projectId, after, limit }))
  }

  inspect(): Promise<Inspection> {
    return this.#answering(async () => {
      const open = await this.#database.forReading()
      const found = open
        ? await inspectRecord(this.#options.file, await this.#projectIn(open.db))
        : nothingRecorded
      return { ...found, anchor: this.#anchorBeside(open?.raw ?? null) }
    })
  }

  inspectChain(): Promise<ChainInspection> {
    return this.#answering(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      const found = projectId === null ? nothingRecorded : await inspectChain(this.#options.file, projectId)
      return { events: found.events, brokenAt: found.brokenAt, anchor: this.#anchorBeside(open?.raw ?? null) }
    })
  }

  repair(at: number): Promise<RepairResult> {
    return this.#answering(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      if (projectId === null) throw noRecordToRepair(this.#options.file)
      return repairRecord({ file: this.#options.file, projectId, at })
    })
  }

  accept(at: number): Promise<number> {
    return this.#answering(async () => {
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
    return this.#answering(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      if (!open || projectId === null) throw noRecordToBackUp(this.#options.file)
      await copyToNew(open.raw, file)
      return { file, bytes: statSync(file).size, events: pointIn(open.raw, projectId)?.seq ?? 0 }
    })
  }

  putBack(named: string, at: number): Promise<BackupRestoreResult> {
    const backup = resolve(named)
    return this.#answering(async () => {
      await this.#database.forget()
      return restoreFromBackup({
        file: this.#options.file,
        backup,
        at,
        anchor: this.#anchor,
        sandboxJournal: this.#options.sandboxJournal,
        projectIn: (database) => this.#projectIn(connectDriver(database, 'read').db),
      })
    })
  }

  health(): Promise<StoreHealth> {
    return healthOf(this.#options.file, {
      open: () => this.#answering(() => this.#database.forReading()),
      state: () => this.#answering(() => this.#state()),
    })
  }

  async unreadiness(): Promise<string | null> {
    try {
      await this.#answering(() => this.#database.forReading())
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

  /** Ends the followers and waits for what is under way. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#underWay)
    await this.#database.forget()
    this.#anchor.flush()
  }

  async #recordIn<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    const { db, raw } = await this.#database.forWriting()
    this.#hideFolder()
    const { answer, project, point } = await db.transaction().execute(async (transaction) => {
      this.#assertIntact({ db, raw })
      const found = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
      const { answer, project } = await record(transaction, request, { ...this.#options, found })
      // Asked before the commit: what was recorded must not be told as refused because another process locks the file.
      return { answer, project, point: project && pointIn(raw, project.id) }
    })
    if (project) {
      this.#resolved.set(db, project)
      // What was written into a file that is gone is not acknowledged: the call is made again.
      await this.#database.assertStands()
      this.#watch.learn(point, { wrote: true })
      this.#writeFolder(project.id)
    }
    return answer
  }

  /** In a shared file, whether another project has the place of the one that was open. */
  async #isReplaced(): Promise<boolean> {
    const { db } = await this.#database.forWriting()
    const before = this.#resolved.get(db)
    this.#resolved.delete(db)
    const now = await db.transaction().execute((transaction) => resolveProject(transaction, this.#options))
    return now?.id !== before?.id
  }

  /** Also where the record lacks what it held before. */
  async #state(): Promise<ProjectState | null> {
    const open = await this.#database.forReading()
    const projectId = open && (await this.#projectIn(open.db))
    return open && projectId !== null ? projectState(open.db, projectId) : null
  }

  /** Whether the record of this folder is the beginning of a log, or there is none. */
  #isContinuedBy(events: readonly ProjectEvent[]): Promise<boolean> {
    return this.#answering(async () => {
      const open = await this.#database.forReading()
      const projectId = open && (await this.#projectIn(open.db))
      if (!open || projectId === null) return true
      const [first] = events
      return first?.body.kind === 'project.created' && first.body.id === projectId
    })
  }

  #restoreInPlace(
    events: readonly ProjectEvent[],
    restoring: LogRestoreOptions | undefined,
  ): Promise<LogRestoreResult> {
    return this.#answering(async () => {
      const { root, file } = this.#options
      this.#watch.expect(events)
      const { db, raw } = await this.#database.forWriting()
      this.#hideFolder()
      const { project, point, ...restored } = await db.transaction().execute(async (transaction) => {
        const found = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
        const made = await restore(transaction, events, { ...restoring, root, shown: file, found })
        return { ...made, point: pointIn(raw, made.project.id) }
      })
      this.#resolved.set(db, project)
      this.#watch.learn(point, { wrote: true })
      this.#writeFolder(project.id)
      return restored
    })
  }

  /** In a file beside this one, which then takes its place: this one is kept under another name. */
  async #restoreAside(
    events: readonly ProjectEvent[],
    restoring: LogRestoreOptions,
  ): Promise<LogRestoreResult> {
    const { file, ids, root } = this.#options
    const coming = `${file}.importing-${randomBytes(6).toString('hex')}`
    const store = openStore({ file: coming, shared: false, root, sandboxJournal: false, ids })
    try {
      const restored = await store.restore(events, { ...restoring, replace: false })
      await store.close()
      const { kept } = await this.putBack(coming, restoring.at)
      return { ...restored, setAside: kept }
    } finally {
      await store.close()
      for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${coming}${end}`, { force: true })
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
    return { ok: true, says: `log entry ${this.#watch.known?.seq ?? 0} is where it was` }
  }

  /** Another record, which a person put there, may be another project's. */
  #assertIntact({ db, raw }: Pick<OpenConnection, 'db' | 'raw'>): void {
    if (this.#watch.assertIntact(raw)) this.#resolved.delete(db)
  }

  #reading<Answer>(read: (db: Kysely<Tables>, projectId: string) => Promise<Answer>): Promise<Answer> {
    return this.#answering(async () => {
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
        this.#notice = noticeOf(state)
        return read(transaction, project?.id ?? noProject)
      })
    })
  }

  async #answering<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#closing.signal.aborted)
      throw new Failure('UNAVAILABLE', `The store of ${this.#options.file} is closed.`, {
        reason: 'store_closed',
      })
    const answer = this.#recovering(work)
    this.#underWay.add(answer)
    try {
      return await answer
    } finally {
      this.#underWay.delete(answer)
    }
  }

  /** After an error of the disk the connections are opened again, so that the store works once the disk does. */
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

  /** Git is to ignore the folder of the database as soon as it is there, whether anything gets recorded or not. */
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

function noRecordToRepair(file: string): Failure {
  return new Failure('NOT_FOUND', `There is no record in ${file}: nothing was changed.`, {
    reason: 'record_not_found',
    hint: 'Restore a backup with `waymark restore <file>`.',
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

/** A database that cannot be used is told as a warning: who asks wants to know why. */
async function healthOf(file: string, asked: ConnectionSource): Promise<StoreHealth> {
  const nothing = {
    location: file,
    exists: false,
    journalMode: null,
    schemaVersion: null,
    seq: 0,
    ended: null,
    warnings: [],
  }
  try {
    const open = await asked.open()
    if (!open) return nothing
    const journalMode = modeOf(open, file)
    const state = await asked.state()
    return {
      location: file,
      exists: true,
      journalMode,
      schemaVersion: numberOf(open.raw, 'user_version'),
      seq: state?.seq ?? 0,
      ended: noticeOf(state),
      warnings: journalMode === 'memory' ? [memoryWarning(file)] : [],
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const way = error.hint === undefined ? '' : ` ${error.hint}`
    return { ...nothing, exists: true, warnings: [`${error.message}${way}`] }
  }
}

// Only WAL is written in the file; how another mode keeps its log each process decides by what it may write.
function modeOf({ raw }: OpenConnection, file: string): string {
  if (raw.pragma('journal_mode', { simple: true }) === 'wal') return 'wal'
  return canWriteLog(file) ? 'persist' : 'memory'
}

function memoryWarning(file: string): string {
  return `No file can be written beside ${file}, so its write-ahead log is in memory: a process killed while it writes may damage the database.`
}

import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { errorCode } from '../../kernel/failure.ts'
import { assertSchema } from '../schema/schema.ts'
import type { Tables } from '../tables/tables.ts'
import { numberOf, openMemory, openReadOnly, openWriter } from './connection.ts'
import { createSqliteTables } from './create.ts'
import { ConnectionRetired, connectDriver, type OpenConnection } from './driver.ts'
import { applicationId, fileIdentity, foreignFile, registerOwnFile } from './file-identity.ts'
import { AsyncLimiter, retryWhileLocked } from './lock-retry.ts'

/** How a database with an open connection was lost. */
export type DatabaseLoss = 'gone' | 'replaced' | 'log'

/** Notified of losses. An error that it throws refuses the call. */
export interface DatabaseObserver {
  /** Before a connection to a lost file is closed. */
  onLoss(loss: DatabaseLoss, connection: Database): Promise<void>
  /** Before a missing database is created. */
  beginning(): void
}

/** One database file with two connections, opened on demand and reopened when the file is replaced. */
export class DatabaseFile {
  readonly #file: string
  readonly #sandboxJournal: boolean
  readonly #watching: DatabaseObserver | null
  readonly #turns = new AsyncLimiter()
  /** The log's identity at first sight: SQLite keeps the file as long as a connection is open. */
  #log: bigint | null = null
  #identity: string | null = null
  #writer: OpenConnection | null = null
  #reader: OpenConnection | null = null

  constructor(file: string, sandboxJournal: boolean, watching: DatabaseObserver | null = null) {
    this.#file = file
    this.#sandboxJournal = sandboxJournal
    this.#watching = watching
  }

  /** Null if there is no database. Creates nothing. */
  forReading(): Promise<OpenConnection | null> {
    return this.#turns.run(async () => {
      if (!(await this.#isThere())) return null
      this.#reader ??= await this.#read()
      const version = await this.#schema(this.#reader.raw)
      return version === 0 ? null : this.#reader
    })
  }

  /** Creates the database if it is missing. */
  forWriting(): Promise<OpenConnection> {
    return this.#turns.run(async () => {
      await this.#isThere()
      const writer = await this.#write()
      await this.#schema(writer.raw)
      return writer
    })
  }

  /** Closes the connections; the next call reopens them. */
  forget(): Promise<void> {
    return this.#turns.run(() => this.#retire())
  }

  /** Fails if the database was lost since the last check, so that lost writes are not acknowledged. */
  assertStands(): Promise<void> {
    return this.#turns.run(async () => {
      if (this.#loss(fileIdentity(this.#file)) === null) return
      await this.#isThere()
      throw new ConnectionRetired('the database was lost')
    })
  }

  async #isThere(): Promise<boolean> {
    const identity = fileIdentity(this.#file)
    const loss = this.#loss(identity)
    if (loss !== null) await this.#lose(loss)
    this.#identity = identity
    return identity !== null
  }

  async #lose(loss: DatabaseLoss): Promise<void> {
    const connection = this.#writer ?? this.#reader
    try {
      if (connection) await this.#watching?.onLoss(loss, connection.raw)
    } finally {
      this.#retire()
    }
  }

  #loss(identity: string | null): DatabaseLoss | null {
    if (!this.#writer && !this.#reader) return null
    if (identity === null) return 'gone'
    if (identity !== this.#identity) return 'replaced'
    const log = statSync(`${this.#file}-wal`, { bigint: true, throwIfNoEntry: false })?.ino ?? null
    if (this.#log !== null && log !== this.#log) return 'log'
    this.#log = log
    return null
  }

  async #schema(connection: Database): Promise<number> {
    const version = await retryWhileLocked(() => numberOf(connection, 'user_version'))
    const id = await retryWhileLocked(() => numberOf(connection, 'application_id'))
    // Another program's file may have replaced ours.
    if (id !== applicationId && (id !== 0 || version !== 0)) throw foreignFile(this.#file)
    if (version > 0) assertSchema(this.#file, version, newDatabaseHint)
    return version
  }

  async #read(): Promise<OpenConnection> {
    const connection = openReadOnly(this.#file)
    await closeOnFailure(connection, () => keepMode(connection, this.#file))
    return connectDriver(connection, 'read')
  }

  async #write(): Promise<OpenConnection> {
    if (this.#writer) return this.#writer
    if (fileIdentity(this.#file) === null) this.#watching?.beginning()
    this.#identity = makeFile(this.#file)
    const connection = await retryWhileLocked(() => openWriter(this.#file))
    await closeOnFailure(connection, () => this.#prepare(connection))
    this.#writer = connectDriver(connection, 'write')
    return this.#writer
  }

  async #prepare(connection: Database): Promise<void> {
    const isNew = (await this.#schema(connection)) === 0
    if (isNew) this.#watching?.beginning()
    if (isNew) await this.#begin(connection)
    else await keepMode(connection, this.#file)
    await createSqliteTables(connection)
  }

  // The application id is written first: a file without it counts as foreign.
  async #begin(connection: Database): Promise<void> {
    const mode = modeForNew(this.#file, this.#sandboxJournal)
    if (mode !== 'wal') setRollbackMode(connection, mode)
    await retryWhileLocked(() => markAsOurs(connection, this.#file))
    if (mode === 'wal') await switchToWal(connection)
  }

  #retire(): void {
    const open = [this.#reader, this.#writer]
    this.#reader = null
    this.#writer = null
    this.#identity = null
    this.#log = null
    for (const connection of open) connection?.retire()
  }
}

// The hint for a file with an unsupported schema.
const newDatabaseHint =
  'Move it elsewhere, with its "-wal" and "-shm" files if there are any. Then begin a new record: waymark doctor --trust'

async function closeOnFailure(connection: Database, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Creates the file if missing, readable only by its owner. Returns its identity. */
function makeFile(file: string): string {
  const identity = fileIdentity(file)
  if (identity !== null) return identity
  mkdirSync(dirname(file), { recursive: true })
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error // another process made it first
  }
  return fileIdentity(file) ?? registerOwnFile(statSync(file, { bigint: true }))
}

function markAsOurs(connection: Database, file: string): void {
  connection.exec('begin immediate')
  try {
    const id = numberOf(connection, 'application_id')
    if (id !== applicationId && (id !== 0 || hasTables(connection))) {
      throw foreignFile(file)
    }
    if (id !== applicationId) connection.pragma(`application_id = ${applicationId}`)
    connection.exec('commit')
  } finally {
    if (connection.inTransaction) connection.exec('rollback')
  }
}

function hasTables(connection: Database): boolean {
  return connection.prepare('select 1 from sqlite_schema limit 1').get() !== undefined
}

let opened: Promise<Kysely<Tables>> | null = null

/** The empty answer of a project without a record. */
export function emptyDatabase(): Promise<Kysely<Tables>> {
  opened ??= openMemoryDatabase()
  return opened
}

async function openMemoryDatabase(): Promise<Kysely<Tables>> {
  const connection = openMemory()
  await createSqliteTables(connection)
  return connectDriver(connection, 'read').db
}

export type JournalMode = 'wal' | 'persist' | 'memory'

/** The journal mode of a new database. */
function modeForNew(file: string, sandboxJournal: boolean): JournalMode {
  if (!canWriteLog(file)) return 'memory'
  return sandboxJournal ? 'persist' : 'wal'
}

/** An existing database keeps its mode: WAL is stored in the file, otherwise the side file is kept. */
export async function keepMode(database: Database, file: string): Promise<void> {
  const now = await retryWhileLocked(() => database.pragma('journal_mode', { simple: true }))
  if (now !== 'wal') setRollbackMode(database, canWriteLog(file) ? 'persist' : 'memory')
}

function setRollbackMode(database: Database, mode: Exclude<JournalMode, 'wal'>): void {
  database.pragma(`journal_mode = ${mode}`)
}

/** Changing the mode needs exclusive access; without shared memory on the disk it stays unchanged. */
async function switchToWal(database: Database): Promise<void> {
  const mode = await retryWhileLocked(() => database.pragma('journal_mode = wal', { simple: true }))
  if (mode !== 'wal') setRollbackMode(database, 'persist')
}

export function canWriteLog(file: string): boolean {
  try {
    closeSync(openSync(`${file}-journal`, 'a', 0o600))
    return true
  } catch {
    return false
  }
}

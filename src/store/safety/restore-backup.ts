import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database, { type Database as Connection } from 'better-sqlite3'
import { errorCode, Failure } from '../../kernel/failure.ts'
import type { BackupRestoreResult } from '../ports/store.ts'
import { replaceContent } from '../record/replace-content.ts'
import { replay } from '../record/replay.ts'
import { assertSchema } from '../schema/schema.ts'
import { numberOf, openReadOnly, openWriter } from '../sqlite/connection.ts'
import { keepMode } from '../sqlite/database-file.ts'
import { applicationId } from '../sqlite/file-identity.ts'
import { retryWhileLocked } from '../sqlite/lock-retry.ts'
import { copyToNew, linkExclusively, stamp } from './copy.ts'
import { chainOf, integrityFindings, readLogHead } from './inspection.ts'
import type { Anchor, AnchorPoint } from './rollback-detection.ts'

interface BackupRestoreOptions {
  /** The database to replace, and the backup that replaces it. */
  readonly file: string
  readonly backup: string
  readonly at: number
  readonly anchor: Anchor
  /** A new file is created without a log. */
  readonly sandboxJournal: boolean
  /** Finds the project of this folder in the backup. */
  readonly projectIn: (backup: Connection) => Promise<string | null>
}

/** Replaces a database by a backup and keeps a copy. A usable database is replaced in one transaction, others by swapping files. */
export async function restoreFromBackup(options: BackupRestoreOptions): Promise<BackupRestoreResult> {
  const { file, backup, at, anchor, projectIn, sandboxJournal } = options
  assertBackup(file, backup)
  mkdirSync(dirname(file), { recursive: true })
  const incoming = `${file}.restoring-${randomBytes(6).toString('hex')}`
  try {
    await copyBackup(backup, incoming)
    const point = await checkBackup(incoming, backup, projectIn)
    const state = await usability(file)
    const oldName = state === 'none' ? null : `${file}.replaced-${stamp(at)}`
    if (oldName !== null && state === 'usable')
      await replaceInPlace(incoming, file, { oldName, anchor, point, at })
    else {
      if (!sandboxJournal) enableWal(incoming)
      await anchor.replace(point, at, async () => swapFiles(incoming, file, oldName))
    }
    return { restored: backup, events: point.seq, kept: oldName }
  } finally {
    for (const end of ['', ...sides]) rmSync(`${incoming}${end}`, { force: true })
  }
}

const sides = ['-wal', '-shm', '-journal'] as const

function assertBackup(file: string, backup: string): void {
  const stats = statSync(backup, { bigint: true, throwIfNoEntry: false })
  if (!stats?.isFile()) {
    throw new Failure('NOT_FOUND', `There is no file ${backup}.`, {
      reason: 'file_not_found',
      hint: 'Name a file that `waymark backup create <file>` wrote.',
    })
  }
  const now = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (now?.ino === stats.ino && now.dev === stats.dev) {
    throw new Failure('INVALID_INPUT', `${backup} is the database itself.`, {
      reason: 'backup_is_database',
      hint: 'Name a file that `waymark backup create <file>` wrote.',
    })
  }
}

/** A copy is restored, so that the backup itself stays unchanged. */
async function copyBackup(backup: string, incoming: string): Promise<void> {
  let source: Connection | null = null
  try {
    source = new Database(backup, { readonly: true, fileMustExist: true })
    const schema = numberOf(source, 'user_version')
    if (numberOf(source, 'application_id') !== applicationId || schema === 0) throw notDatabaseFailure(backup)
    assertSchema(backup, schema, 'Name a backup that this version of Waymark made. Nothing was changed.')
    await copyToNew(source, incoming)
  } catch (error) {
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(errorCode(error) ?? '')) throw notDatabaseFailure(backup)
    throw error
  } finally {
    source?.close()
  }
}

/** Refuses a damaged backup. Returns the end of its log. */
async function checkBackup(
  incoming: string,
  backup: string,
  projectIn: BackupRestoreOptions['projectIn'],
): Promise<AnchorPoint> {
  const [damage] = await integrityFindings(incoming)
  if (damage !== undefined) throw damagedBackupFailure(backup, damage)
  const database = openReadOnly(incoming)
  try {
    const added = database.prepare("select 1 from sqlite_schema where type in ('trigger', 'view')").get()
    if (added) throw damagedBackupFailure(backup, 'it has triggers or views, which Waymark never creates')
    const projectId = await projectIn(database)
    if (projectId === null) throw withoutRecord(backup)
    const replayed = await replay(database, projectId)
    replayed.close()
    const { brokenAt } = chainOf(replayed, readLogHead(database, projectId))
    if (brokenAt !== null) throw damagedBackupFailure(backup, `its log is broken at log entry ${brokenAt}`)
    return { projectId, seq: replayed.seq, hash: replayed.head }
  } finally {
    database.close()
  }
}

/** Whether the old database is sound, so that its content can be replaced. */
async function usability(file: string): Promise<'none' | 'usable' | 'unusable'> {
  if (!existsSync(file)) return sides.some((side) => existsSync(`${file}${side}`)) ? 'unusable' : 'none'
  // Shared memory without a log: a process still uses a deleted log.
  const isLogLost = existsSync(`${file}-shm`) && !existsSync(`${file}-wal`)
  if (isLogLost || statSync(file).size === 0) return 'unusable'
  try {
    const database = openReadOnly(file)
    try {
      const id = await retryWhileLocked(() => numberOf(database, 'application_id'))
      if (id !== applicationId) throw notDatabaseFailure(file)
    } finally {
      database.close()
    }
    return (await integrityFindings(file)).length === 0 ? 'usable' : 'unusable'
  } catch (error) {
    if (/^SQLITE_(NOTADB|CORRUPT|IOERR)/.test(errorCode(error) ?? '')) return 'unusable'
    throw error
  }
}

interface ReplacementRecord {
  /** The file name of the old content's copy. */
  readonly oldName: string
  readonly anchor: Anchor
  readonly point: AnchorPoint
  readonly at: number
}

/** Holds the write lock from the copy of the old content to the new content. */
async function replaceInPlace(
  incoming: string,
  file: string,
  { oldName, anchor, point, at }: ReplacementRecord,
): Promise<void> {
  const database = await retryWhileLocked(() => openWriter(file))
  let isCopied = false
  try {
    await keepMode(database, file)
    // Foreign keys are off, since rows come table by table.
    database.pragma('foreign_keys = off')
    database.prepare('attach ? as incoming').run(incoming)
    // With a journal file, SQLite would create and delete one for both databases.
    database.pragma('incoming.journal_mode = memory')
    await retryWhileLocked(() => database.exec('begin immediate'))
    await copyCommitted(file, oldName)
    isCopied = true
    await anchor.replace(point, at, async () => {
      replaceContent(database)
      await retryWhileLocked(() => database.exec('commit'))
    })
  } catch (error) {
    if (database.inTransaction) database.exec('rollback')
    if (isCopied) rmSync(oldName, { force: true })
    throw error
  } finally {
    database.close()
  }
}

/** Another connection can read the committed state while this process holds the write lock. */
async function copyCommitted(file: string, target: string): Promise<void> {
  const reader = openReadOnly(file)
  try {
    await copyToNew(reader, target)
  } finally {
    reader.close()
  }
}

/** A new database uses WAL; a copy does not. */
function enableWal(incoming: string): void {
  const database = new Database(incoming)
  try {
    database.pragma('journal_mode = wal')
  } finally {
    database.close()
  }
}

/** Renames the old files with their logs, so that none is taken for the new one's. */
function swapFiles(incoming: string, file: string, oldName: string | null): void {
  for (const end of ['', ...sides]) {
    if (oldName !== null && existsSync(`${file}${end}`)) renameSync(`${file}${end}`, `${oldName}${end}`)
  }
  try {
    // Never overwrites a file that another process created meanwhile.
    if (oldName === null) linkExclusively(incoming, file)
    else renameSync(incoming, file)
  } catch (error) {
    if (oldName !== null && existsSync(oldName)) copyFileSync(oldName, file)
    throw error
  }
}

function notDatabaseFailure(file: string): Failure {
  return new Failure('INVALID_INPUT', `The file ${file} is not a Waymark database; nothing was changed.`, {
    reason: 'not_a_database',
    hint: 'Name a file that `waymark backup create <file>` wrote.',
  })
}

function withoutRecord(file: string): Failure {
  return new Failure(
    'INVALID_INPUT',
    `The backup ${file} has no record of this project. Nothing was changed.`,
    {
      reason: 'backup_of_other_project',
      hint: 'Run it in the folder of the project that was backed up, or name that one with --project.',
    },
  )
}

function damagedBackupFailure(file: string, why: string): Failure {
  return new Failure('INVALID_INPUT', `The backup ${file} is damaged: ${why}. Nothing was changed.`, {
    reason: 'backup_damaged',
    hint: 'Name an older backup.',
  })
}

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
import { chainOf, headOf, integrityFindings } from './inspection.ts'
import type { Anchor, AnchorPoint } from './watch.ts'

interface BackupRestoreOptions {
  /** The database that is replaced, and the backup that takes its place. */
  readonly file: string
  readonly backup: string
  readonly at: number
  readonly anchor: Anchor
  /** A new file keeps no log. */
  readonly sandboxJournal: boolean
  /** The project of this folder in the backup. */
  readonly projectIn: (backup: Connection) => Promise<string | null>
}

/**
 * Puts a backup in the place of a database, which is kept. Where the database can be used, it is copied and its content
 * is replaced in one transaction: what others wrote before is in the copy, and their next call meets the backup. Else
 * the files change places.
 */
export async function restoreFromBackup(putting: BackupRestoreOptions): Promise<BackupRestoreResult> {
  const { file, backup, at, anchor, projectIn, sandboxJournal } = putting
  assertBackup(file, backup)
  mkdirSync(dirname(file), { recursive: true })
  const coming = `${file}.restoring-${randomBytes(6).toString('hex')}`
  try {
    await copyBackup(backup, coming)
    const point = await checkBackup(coming, backup, projectIn)
    const state = await stateOfReplaced(file)
    const kept = state === 'none' ? null : `${file}.replaced-${stamp(at)}`
    if (kept !== null && state === 'usable') await replaceInPlace(coming, file, { kept, anchor, point, at })
    else {
      if (!sandboxJournal) enableWal(coming)
      await anchor.replace(point, at, async () => changePlaces(coming, file, kept))
    }
    return { restored: backup, events: point.seq, kept }
  } finally {
    for (const end of ['', ...sides]) rmSync(`${coming}${end}`, { force: true })
  }
}

const sides = ['-wal', '-shm', '-journal'] as const

function assertBackup(file: string, backup: string): void {
  const stats = statSync(backup, { bigint: true, throwIfNoEntry: false })
  if (!stats?.isFile()) {
    throw new Failure('NOT_FOUND', `There is no file ${backup}.`, {
      reason: 'file_not_found',
      hint: 'Name a file that `waymark backup <file>` wrote.',
    })
  }
  const now = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (now?.ino === stats.ino && now.dev === stats.dev) {
    throw new Failure('INVALID_INPUT', `${backup} is the database itself.`, {
      reason: 'backup_is_database',
      hint: 'Name a file that `waymark backup <file>` wrote.',
    })
  }
}

/** What is put back is a copy, so that the backup stays as it is. */
async function copyBackup(backup: string, coming: string): Promise<void> {
  let source: Connection | null = null
  try {
    source = new Database(backup, { readonly: true, fileMustExist: true })
    const schema = numberOf(source, 'user_version')
    if (numberOf(source, 'application_id') !== applicationId || schema === 0) throw notDatabaseFailure(backup)
    assertSchema(backup, schema, 'Name a backup that this version of Waymark made. Nothing was changed.')
    await copyToNew(source, coming)
  } catch (error) {
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(errorCode(error) ?? '')) throw notDatabaseFailure(backup)
    throw error
  } finally {
    source?.close()
  }
}

/** A backup that is damaged itself is no way back. Answers where its log ends. */
async function checkBackup(
  coming: string,
  backup: string,
  projectIn: BackupRestoreOptions['projectIn'],
): Promise<AnchorPoint> {
  const [damage] = await integrityFindings(coming)
  if (damage !== undefined) throw damagedBackupFailure(backup, damage)
  const database = openReadOnly(coming)
  try {
    const added = database.prepare("select 1 from sqlite_schema where type in ('trigger', 'view')").get()
    if (added) throw damagedBackupFailure(backup, 'it has triggers or views, which Waymark never creates')
    const projectId = await projectIn(database)
    if (projectId === null) throw withoutRecord(backup)
    const replayed = await replay(database, projectId)
    replayed.close()
    const { brokenAt } = chainOf(replayed, headOf(database, projectId))
    if (brokenAt !== null) throw damagedBackupFailure(backup, `its log is broken at log entry ${brokenAt}`)
    return { projectId, seq: replayed.seq, hash: replayed.head }
  } finally {
    database.close()
  }
}

/** Whether what is replaced is a sound database, whose content can be replaced. */
async function stateOfReplaced(file: string): Promise<'none' | 'usable' | 'unusable'> {
  if (!existsSync(file)) return sides.some((side) => existsSync(`${file}${side}`)) ? 'unusable' : 'none'
  // Shared memory without its log: who made it still uses a log that has no name any more.
  const lostLog = existsSync(`${file}-shm`) && !existsSync(`${file}-wal`)
  if (lostLog || statSync(file).size === 0) return 'unusable'
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
  /** What the copy of the old content is called. */
  readonly kept: string
  readonly anchor: Anchor
  readonly point: AnchorPoint
  readonly at: number
}

/** Nobody else writes between the copy of what was there and the content that comes. */
async function replaceInPlace(
  coming: string,
  file: string,
  { kept, anchor, point, at }: ReplacementRecord,
): Promise<void> {
  const database = await retryWhileLocked(() => openWriter(file))
  let isCopied = false
  try {
    await keepMode(database, file)
    // Rows come table by table.
    database.pragma('foreign_keys = off')
    database.prepare('attach ? as incoming').run(coming)
    // With a journal in a file, SQLite would make and delete one for both databases.
    database.pragma('incoming.journal_mode = memory')
    await retryWhileLocked(() => database.exec('begin immediate'))
    await copyCommitted(file, kept)
    isCopied = true
    await anchor.replace(point, at, async () => {
      replaceContent(database)
      await retryWhileLocked(() => database.exec('commit'))
    })
  } catch (error) {
    if (database.inTransaction) database.exec('rollback')
    if (isCopied) rmSync(kept, { force: true })
    throw error
  } finally {
    database.close()
  }
}

/** Another connection sees what was committed, also while this process holds the lock of writers. */
async function copyCommitted(file: string, target: string): Promise<void> {
  const reader = openReadOnly(file)
  try {
    await copyToNew(reader, target)
  } finally {
    reader.close()
  }
}

/** As a new database keeps its log; a copy has none. */
function enableWal(coming: string): void {
  const database = new Database(coming)
  try {
    database.pragma('journal_mode = wal')
  } finally {
    database.close()
  }
}

/** The old files go under another name, log and all; none of them may be taken for the new one's. */
function changePlaces(coming: string, file: string, kept: string | null): void {
  for (const end of ['', ...sides]) {
    if (kept !== null && existsSync(`${file}${end}`)) renameSync(`${file}${end}`, `${kept}${end}`)
  }
  try {
    // Over nothing that another process began meanwhile.
    if (kept === null) linkExclusively(coming, file)
    else renameSync(coming, file)
  } catch (error) {
    if (kept !== null && existsSync(kept)) copyFileSync(kept, file)
    throw error
  }
}

function notDatabaseFailure(file: string): Failure {
  return new Failure('INVALID_INPUT', `The file ${file} is not a Waymark database; nothing was changed.`, {
    reason: 'not_a_database',
    hint: 'Name a file that `waymark backup <file>` wrote.',
  })
}

function withoutRecord(file: string): Failure {
  return new Failure(
    'INVALID_INPUT',
    `The backup ${file} holds no record of this project; nothing was changed.`,
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

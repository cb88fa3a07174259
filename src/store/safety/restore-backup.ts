import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database, { type Database as Connection } from 'better-sqlite3'
import { errorCode, Failure } from '../../kernel/failure.ts'
import type { BackupRestoreResult } from '../ports/store.ts'
import { replay } from '../record/replay.ts'
import { assertSchema } from '../schema/schema.ts'
import { numberOf, openReadOnly } from '../sqlite/connection.ts'
import { applicationId } from '../sqlite/file-identity.ts'
import { copyPages, copyToNew, linkExclusively, stamp } from './copy.ts'
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
 * Puts a backup in the place of a database, which is kept. Where the database can be used, its pages are replaced in
 * one transaction, so that running servers read the backup from their next call on; else the files change places.
 */
export async function restoreFromBackup(putting: BackupRestoreOptions): Promise<BackupRestoreResult> {
  const { file, backup, at, anchor, projectIn, sandboxJournal } = putting
  assertBackup(file, backup)
  mkdirSync(dirname(file), { recursive: true })
  const coming = `${file}.restoring-${randomBytes(6).toString('hex')}`
  try {
    await copyBackup(backup, coming)
    const point = await checkBackup(coming, backup, projectIn)
    const before = anchor.read()
    const kept = await moveReplacedAside(file, at)
    anchor.begin(point, at)
    try {
      if (kept?.usable) await restoreInPlace(coming, file)
      else {
        if (!sandboxJournal) enableWal(coming)
        changePlaces(coming, file, kept?.name ?? null)
      }
    } catch (error) {
      anchor.begin(before?.point ?? null, at)
      throw error
    }
    return { restored: backup, events: point.seq, kept: kept?.name ?? null }
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

interface PreservedFile {
  readonly name: string
  /** Whether it is a sound database, whose pages can be replaced. */
  readonly usable: boolean
}

/** A copy of what is replaced, however damaged: the way back. Null where there is nothing. */
async function moveReplacedAside(file: string, at: number): Promise<PreservedFile | null> {
  const name = `${file}.replaced-${stamp(at)}`
  if (!existsSync(file)) {
    if (!sides.some((side) => existsSync(`${file}${side}`))) return null
    return { name, usable: false }
  }
  // Shared memory without its log: who made it still uses a log that has no name any more.
  const lostLog = existsSync(`${file}-shm`) && !existsSync(`${file}-wal`)
  if (!lostLog && statSync(file).size > 0) {
    try {
      const database = openReadOnly(file)
      try {
        if (numberOf(database, 'application_id') !== applicationId) throw notDatabaseFailure(file)
        await copyToNew(database, name)
      } finally {
        database.close()
      }
      if ((await integrityFindings(file)).length === 0) return { name, usable: true }
      rmSync(name)
      return { name, usable: false }
    } catch (error) {
      if (!/^SQLITE_(NOTADB|CORRUPT|IOERR)/.test(errorCode(error) ?? '')) throw error
    }
  }
  return { name, usable: false }
}

async function restoreInPlace(coming: string, file: string): Promise<void> {
  const source = openReadOnly(coming)
  try {
    await copyPages(source, file)
  } finally {
    source.close()
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

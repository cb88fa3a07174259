import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database, { type Database as Connection } from 'better-sqlite3'
import { errorCode, Failure } from '../../kernel/failure.ts'
import { numberOf } from '../sqlite/connection.ts'
import { isBusy, patience } from '../sqlite/lock-retry.ts'

// In one step: otherwise each concurrent write would restart the copy.
const inOneStep = { progress: () => 0x7fffffff }

/** Copies a database and its log into a new file from one snapshot. Others may write meanwhile. */
async function copyPages(source: Connection, target: string): Promise<void> {
  const schema = numberOf(source, 'user_version')
  const deadline = performance.now() + patience
  for (;;) {
    try {
      await source.backup(target, inOneStep)
      // The driver mistakes a failed lock for the end of the copy, and leaves a file without a schema.
      if (schemaOf(target) === schema) return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
    if (performance.now() > deadline) throw databaseLockedFailure(target)
    await sleep(20)
  }
}

/** Creates one file with a whole database under an unused name, readable only by its owner. */
export async function copyToNew(source: Connection, target: string): Promise<void> {
  if (!existsSync(dirname(target))) throw noFolderFailure(target)
  const partial = `${target}.partial-${randomBytes(6).toString('hex')}`
  try {
    await copyPages(source, partial).catch((error: unknown) => {
      throw unwritableFailure(error, target)
    })
    leaveWalMode(partial)
    chmodSync(partial, 0o600)
    linkExclusively(partial, target)
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${partial}${end}`, { force: true })
  }
}

/** Links a file to a new name, and fails if the name exists. */
export function linkExclusively(file: string, target: string): void {
  try {
    linkSync(file, target)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw fileExistsFailure(target)
    // A disk without links: another process may take the name meanwhile.
    if (statSync(target, { throwIfNoEntry: false })) throw fileExistsFailure(target)
    renameSync(file, target)
  }
}

/** A copy inherits WAL mode until it is changed. */
function leaveWalMode(file: string): void {
  const copy = new Database(file)
  try {
    copy.pragma('journal_mode = delete')
  } finally {
    copy.close()
  }
}

function schemaOf(file: string): number | null {
  const copy = new Database(file, { timeout: 1000 })
  try {
    return numberOf(copy, 'user_version')
  } finally {
    copy.close()
  }
}

/** The error is about the copy, not the database. */
function unwritableFailure(error: unknown, target: string): unknown {
  const code = errorCode(error) ?? ''
  if (!/^(SQLITE_CANTOPEN|SQLITE_FULL|SQLITE_READONLY|SQLITE_IOERR_WRITE|SQLITE_PERM)/.test(code))
    return error
  return new Failure('UNAVAILABLE', `The file ${target} cannot be written (${code}); nothing was changed.`, {
    reason: 'file_not_writable',
    hint: 'Name a file in a folder that you may write to, on a disk with room for it.',
    cause: error,
  })
}

function noFolderFailure(target: string): Failure {
  return new Failure('NOT_FOUND', `There is no folder ${dirname(target)}; nothing was copied.`, {
    reason: 'folder_not_found',
    hint: 'Create it, or choose a file in another folder.',
  })
}

function fileExistsFailure(target: string): Failure {
  return new Failure('CONFLICT', `${target} already exists; it was not touched.`, {
    reason: 'file_exists',
    hint: 'Choose a file that does not exist yet. If another process created it just now, run the same command again.',
  })
}

function databaseLockedFailure(target: string): Failure {
  return new Failure(
    'UNAVAILABLE',
    `Another process kept the database ${target} locked for ${patience / 1000} seconds.`,
    {
      reason: 'database_locked',
      hint: 'Call again. If it stays locked, end the process that has the file open.',
    },
  )
}

/** A file name part that sorts by time and is valid on every file system. */
export function stamp(at: number): string {
  return new Date(at).toISOString().replace(/[:.]/g, '-')
}

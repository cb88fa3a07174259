import { errorCode, Failure } from '../../kernel/failure.ts'
import { notADatabaseHint } from './file-identity.ts'
import { patience } from './lock-retry.ts'

interface SqliteErrorText {
  readonly matches: RegExp
  readonly describe: (file: string, code: string) => string
  readonly hint: string
  readonly reason: string
}

const damagedHint =
  'Run `waymark doctor` to see the damage. `waymark backup restore <file>` restores a backup and keeps the replaced file.'

const causes: readonly SqliteErrorText[] = [
  {
    matches: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    reason: 'database_locked',
    describe: (file) =>
      `Another process kept the database ${file} locked for ${patience / 1000} seconds; nothing was recorded.`,
    hint: 'Call again. If it stays locked, find the process that holds the file open and end it.',
  },
  {
    matches: /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    reason: 'disk_full',
    describe: (file) =>
      `The disk is full: the database ${file} could not be written, and nothing was recorded.`,
    hint: 'Free some space, then make the same call again.',
  },
  {
    matches: /^(SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM|EROFS)/,
    reason: 'database_read_only',
    describe: (file) => `The database ${file} cannot be written: the file or its folder is read-only.`,
    hint: 'Make the file and its folder writable, or name another file with WAYMARK_DATABASE.',
  },
  {
    matches: /^SQLITE_NOTADB/,
    reason: 'not_a_database',
    describe: (file) => `The file ${file} is not a Waymark database; it was not touched.`,
    hint: notADatabaseHint,
  },
  {
    matches: /^(SQLITE_CORRUPT|UNREADABLE_ROW)/,
    reason: 'database_damaged',
    describe: (file) => `The database ${file} is damaged.`,
    hint: damagedHint,
  },
  {
    matches: /^(SQLITE_CANTOPEN|ENOENT|ENOTDIR|EISDIR|EEXIST|ELOOP|ENAMETOOLONG|EMFILE|ENFILE)/,
    reason: 'database_unopenable',
    describe: (file, code) => `The database ${file} cannot be opened (${code}).`,
    hint: 'Check that the folder exists and can be written, or name another file with WAYMARK_DATABASE.',
  },
  {
    matches: /^(SQLITE_IOERR|SQLITE_NOMEM|SQLITE_TOOBIG|SQLITE_NOLFS|EIO|EFBIG)/,
    reason: 'disk_unreadable',
    describe: (file, code) =>
      `The database ${file} could not be read or written (${code}); nothing was recorded.`,
    hint: 'Check the disk and its free space, then make the same call again. If it fails again, run `waymark doctor`.',
  },
  {
    matches: /^SQLITE_/,
    reason: 'database_damaged',
    describe: (file, code) => `The database ${file} was changed outside Waymark (${code}).`,
    hint: damagedHint,
  },
]

/** The meaning of an error that our own code threw on a damaged file. */
export function damagedFile(error: unknown, file: string): Failure {
  return new Failure('UNAVAILABLE', `The database ${file} is damaged.`, {
    reason: 'database_damaged',
    hint: damagedHint,
    cause: error,
  })
}

/** Turns an error of the database or disk into a failure with a hint. Other errors are returned unchanged. */
export function databaseUnavailable(error: unknown, file: string): unknown {
  const code = errorCode(error)
  const cause = code === null ? undefined : causes.find(({ matches }) => matches.test(code))
  if (!cause || code === null) return error
  return new Failure('UNAVAILABLE', cause.describe(file, code), {
    reason: cause.reason,
    hint: cause.hint,
    cause: error,
  })
}

import { type BigIntStats, closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { Failure } from '../../kernel/failure.ts'
import { shellCommand } from '../../kernel/shell-word.ts'

/** "WAYM": at offset 68 of Waymark's files. */
export const applicationId = 0x5741594d

// Closing any descriptor of a database drops this process's locks on it, so a file is only examined before SQLite opens it.
const ours = new Set<string>()

/** Identifies a file, even if another took its name. Null for a missing or empty file. */
export function fileIdentity(file: string): string | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (!stats) return null
  if (stats.isDirectory()) {
    throw new Failure('UNAVAILABLE', `The database ${file} is a folder.`, {
      reason: 'database_is_folder',
      hint: 'Name a file with WAYMARK_DATABASE.',
    })
  }
  const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`
  if (ours.has(identity)) return identity
  if (stats.size === 0n) return null
  assertWaymarkDatabase(file)
  ours.add(identity)
  return identity
}

/** For a file that this process just created and nobody has opened. */
export function registerOwnFile(stats: BigIntStats): string {
  const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`
  ours.add(identity)
  return identity
}

/** The hint for a file that is no database: its first page may be overwritten. */
export const notADatabaseHint =
  'Move it away, or name another file with WAYMARK_DATABASE. If it was your record, `waymark doctor` says what is wrong, and `waymark backup restore <file>` puts a backup in its place.'

function assertWaymarkDatabase(file: string): void {
  const header = firstBytes(file, 100)
  const isSqlite = header.toString('latin1', 0, 16) === 'SQLite format 3\0'
  if (!isSqlite || header.length < 100) {
    throw new Failure('UNAVAILABLE', `The file ${file} is not a Waymark database; it was not touched.`, {
      reason: 'not_a_database',
      hint: notADatabaseHint,
    })
  }
  if (header.readUInt32BE(68) === applicationId) return
  if (isTaskman(file)) {
    throw new Failure('UNAVAILABLE', `The file ${file} is a taskman database; it was not touched.`, {
      reason: 'database_of_taskman',
      hint: `Import it with ${shellCommand`waymark import taskman ${file}`}, and name another file with WAYMARK_DATABASE.`,
    })
  }
  throw foreignFile(file)
}

export function foreignFile(file: string): Failure {
  return new Failure(
    'UNAVAILABLE',
    `The file ${file} is the SQLite database of another program; it was not touched.`,
    { reason: 'database_of_other_program', hint: 'Name another file with WAYMARK_DATABASE.' },
  )
}

/** Recognizes a file by its table names, in the file or its log. */
function isTaskman(file: string): boolean {
  const text = firstBytes(file, 1 << 20).toString('latin1') + textOf(`${file}-wal`)
  return ['phases', 'tasks', 'task_deps'].every((table) =>
    new RegExp(`create table\\s+(if not exists\\s+)?["\`[]?${table}\\b`, 'i').test(text),
  )
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

function firstBytes(file: string, length: number): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0))
  } finally {
    closeSync(descriptor)
  }
}

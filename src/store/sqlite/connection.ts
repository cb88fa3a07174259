import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import Database, { type Database as Connection, type Statement } from 'better-sqlite3'

// SQLite's own wait in milliseconds, which blocks the event loop.
const busyTimeout = 20

/** A connection that may write to an existing file. Busy while another process creates the database. */
export function openWriter(file: string): Connection {
  const connection = new Database(file, { fileMustExist: true, timeout: busyTimeout })
  try {
    connection.pragma('foreign_keys = on')
    connection.pragma('synchronous = full')
    // The log is cut again at the checkpoint after a burst.
    connection.pragma('journal_size_limit = 16777216')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** A connection that only reads. Opened for writing, because only then it can recover after a crash. */
export function openReadOnly(file: string): Connection {
  const connection = new Database(file, { fileMustExist: true, timeout: busyTimeout })
  connection.pragma('query_only = on')
  return connection
}

export function openMemory(): Connection {
  const connection = new Database(':memory:')
  // It never rolls back.
  connection.pragma('journal_mode = off')
  return connection
}

/** A temporary database, partly in memory and else in an unnamed file that vanishes with the connection. */
export function openTemporary(): Connection {
  try {
    accessSync(tmpdir(), constants.W_OK)
  } catch {
    return openMemory()
  }
  const connection = new Database('')
  // Kibibytes in memory.
  for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -16384'])
    connection.pragma(pragma)
  return connection
}

/** Reads and writes with 4 MB of pages in memory: an import comes back to few pages, so more would only take memory. */
export async function withSmallCache<Result>(
  connection: Connection,
  work: () => Promise<Result>,
): Promise<Result> {
  const usual = Number(connection.pragma('cache_size', { simple: true }))
  connection.pragma('cache_size = -4096')
  try {
    return await work()
  } finally {
    if (connection.open) connection.pragma(`cache_size = ${usual}`)
  }
}

type NumberPragma = 'application_id' | 'data_version' | 'user_version'

const prepared = new WeakMap<Connection, Map<NumberPragma, Statement>>()

/** A numeric pragma, prepared once because every call of the store reads it. */
export function numberOf(connection: Connection, pragma: NumberPragma): number {
  const statements = prepared.get(connection) ?? new Map<NumberPragma, Statement>()
  prepared.set(connection, statements)
  const statement = statements.get(pragma) ?? connection.prepare(`pragma ${pragma}`).pluck()
  statements.set(pragma, statement)
  return Number(statement.get())
}

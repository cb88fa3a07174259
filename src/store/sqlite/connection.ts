import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import Database, { type Database as Connection, type Statement } from 'better-sqlite3'

// SQLite itself waits this long, in milliseconds, and freezes the event loop meanwhile.
const busyTimeout = 20

/** A connection that may write. The file exists already. Busy while another process makes the database. */
export function openWriter(file: string): Connection {
  const connection = new Database(file, { fileMustExist: true, timeout: busyTimeout })
  try {
    connection.pragma('foreign_keys = on')
    connection.pragma('synchronous = full')
    // A log that grew in a burst is cut again at the next checkpoint.
    connection.pragma('journal_size_limit = 16777216')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** A connection that only reads. It is opened for writing, because only then it can recover what a crash left. */
export function openReadOnly(file: string): Connection {
  const connection = new Database(file, { fileMustExist: true, timeout: busyTimeout })
  connection.pragma('query_only = on')
  return connection
}

export function openMemory(): Connection {
  const connection = new Database(':memory:')
  // Nothing in it is ever taken back.
  connection.pragma('journal_mode = off')
  return connection
}

/**
 * A database for one piece of work, of which a part is in memory and the rest in a file without a name: it goes with the
 * connection, or with the process. In memory alone where no such file can be written.
 */
export function openTemporary(): Connection {
  try {
    accessSync(tmpdir(), constants.W_OK)
  } catch {
    return openMemory()
  }
  const connection = new Database('')
  // Kibibytes that stay in memory.
  for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -16384'])
    connection.pragma(pragma)
  return connection
}

type NumberPragma = 'application_id' | 'data_version' | 'user_version'

const prepared = new WeakMap<Connection, Map<NumberPragma, Statement>>()

/** One number that a pragma answers. It is prepared once, because every call of the store asks. */
export function numberOf(connection: Connection, pragma: NumberPragma): number {
  const statements = prepared.get(connection) ?? new Map<NumberPragma, Statement>()
  prepared.set(connection, statements)
  const statement = statements.get(pragma) ?? connection.prepare(`pragma ${pragma}`).pluck()
  statements.set(pragma, statement)
  return Number(statement.get())
}

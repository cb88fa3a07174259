import Database, { type Database as Connection } from 'better-sqlite3'

// SQLite itself waits this long, in milliseconds, and freezes the event loop meanwhile.
const busyTimeout = 20

/** A connection that may write. The file exists already. */
export function openWriter(file: string): Connection {
  const connection = new Database(file, { fileMustExist: true, timeout: busyTimeout })
  connection.pragma('foreign_keys = on')
  connection.pragma('synchronous = full')
  // A log that grew in a burst is cut again at the next checkpoint.
  connection.pragma('journal_size_limit = 16777216')
  return connection
}

/** A connection that only reads. It is opened for writing, because only then it can recover what a crash left. */
export function openReader(file: string): Connection {
  const connection = new Database(file, { fileMustExist: true, timeout: busyTimeout })
  connection.pragma('query_only = on')
  return connection
}

export function openMemory(): Connection {
  return new Database(':memory:')
}

/** One number that a pragma answers. */
export function numberOf(connection: Connection, pragma: string): number {
  return Number(connection.pragma(pragma, { simple: true }))
}

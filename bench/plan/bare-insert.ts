import { join } from 'node:path'
import Database from 'better-sqlite3'

/** The barest durable write there is here: one row inserted and committed, as the store's own log would have it. */
export function bareInsert(folder: string): { readonly insert: () => void; readonly close: () => void } {
  const database = new Database(join(folder, 'bare.db'))
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = full')
  database.exec('create table entry (id integer primary key, body text not null)')
  const statement = database.prepare('insert into entry (body) values (?)')
  const body = 'x'.repeat(500)
  return { insert: () => statement.run(body), close: () => database.close() }
}

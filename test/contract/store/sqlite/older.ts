import { renameSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { migrations } from '../../../../src/storage/migrations/list.ts'
import { migrate } from '../../../../src/storage/sqlite/migrate.ts'

/** Puts a database of an earlier schema in the place of a file, with the rows of it that this schema had a place for. */
export async function asOfSchema(file: string, version: number): Promise<void> {
  const older = `${file}.older`
  const database = new Database(older)
  const steps = migrations.filter((step) => step.version <= version)
  await migrate(database, older, steps)
  database.pragma('foreign_keys = off')
  database.prepare('attach ? as newer').run(file)
  database.pragma(`application_id = ${Number(database.pragma('newer.application_id', { simple: true }))}`)
  const named = database
    .prepare<[], string>("select name from newer.sqlite_schema where type = 'table'")
    .pluck()
  for (const table of named.all()) {
    const columns = shared(database, table).join(', ')
    if (columns === '') continue
    database.exec(`insert into main."${table}" (${columns}) select ${columns} from newer."${table}"`)
  }
  database.close()
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  renameSync(older, file)
}

function shared(database: Database.Database, table: string): readonly string[] {
  const names = database.prepare<[string, string], string>('select name from pragma_table_info(?, ?)').pluck()
  const newer = new Set(names.all(table, 'newer'))
  return names.all(table, 'main').filter((name) => newer.has(name))
}

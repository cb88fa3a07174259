import type { Database as Connection } from 'better-sqlite3'
import { schemaStatements } from '../schema/schema.ts'
import { remakeTaskSearch, taskSearchNames } from '../tables/search.ts'

/** Replaces the rows by those of the attached database `incoming`. Our own statements create the tables, so nothing else is copied. */
export function replaceContent(database: Connection): void {
  for (const name of [...taskSearchNames, ...tableNames(database)])
    database.exec(`drop table if exists main.${quote(name)}`)
  for (const statement of schemaStatements('sqlite')) database.exec(statement)
  for (const name of tableNames(database))
    database.exec(`insert into main.${quote(name)} select * from incoming.${quote(name)}`)
  for (const statement of remakeTaskSearch) database.exec(statement)
  for (const pragma of ['application_id', 'user_version']) {
    const value = Number(database.pragma(`incoming.${pragma}`, { simple: true }))
    database.pragma(`main.${pragma} = ${value}`)
  }
}

/** In order of creation, without the index of the search and its parts. */
export function tableNames(database: Connection): readonly string[] {
  return database
    .prepare<unknown[], string>(
      `select name from main.sqlite_schema
      where type = 'table' and name not like 'sqlite\\_%' escape '\\' and name not like 'task\\_search%' escape '\\' order by rowid`,
    )
    .pluck()
    .all()
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

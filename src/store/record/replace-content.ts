import type { Database as Connection } from 'better-sqlite3'

interface SchemaEntry {
  readonly type: string
  readonly name: string
  readonly sql: string
}

/** All tables and numbers of the attached database `incoming` in the place of those of the first one. */
export function replaceContent(database: Connection): void {
  for (const { name } of schemaEntries(database, 'main').filter(isTable))
    database.exec(`drop table main.${quoted(name)}`)
  const coming = schemaEntries(database, 'incoming')
  for (const { sql } of coming) database.exec(sql)
  for (const { name } of coming.filter(isTable))
    database.exec(`insert into main.${quoted(name)} select * from incoming.${quoted(name)}`)
  for (const pragma of ['application_id', 'user_version']) {
    const value = Number(database.pragma(`incoming.${pragma}`, { simple: true }))
    database.pragma(`main.${pragma} = ${value}`)
  }
}

/** What was made by a statement, in the order in which it was made. */
function schemaEntries(database: Connection, schema: 'main' | 'incoming'): readonly SchemaEntry[] {
  return database
    .prepare<unknown[], SchemaEntry>(
      `select type, name, sql from ${schema}.sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\' order by rowid`,
    )
    .all()
}

function isTable({ type }: SchemaEntry): boolean {
  return type === 'table'
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

import { Failure } from '../../kernel/failure.ts'
import { gateTables } from './gate.ts'
import { inboxTables } from './inbox.ts'
import { linesTables } from './lines.ts'
import { notificationsTables } from './notifications.ts'
import { peopleTables } from './people.ts'
import { planTables, taskSearchTables } from './plan.ts'
import { projectTables } from './project.ts'
import { reviewsTables } from './reviews.ts'
import { sessionsTables } from './sessions.ts'
import type { ColumnTypes, TableStatements } from './table-statements.ts'
import { trackTables } from './track.ts'

/** Stored in each database. Raise it with every change of a table: other versions are refused. */
export const schemaVersion = 47

/** A table comes after those that its foreign keys reference. */
const tables: readonly TableStatements[] = [
  projectTables,
  planTables,
  trackTables,
  gateTables,
  inboxTables,
  reviewsTables,
  sessionsTables,
  linesTables,
  peopleTables,
  notificationsTables,
]

const typesOf = {
  sqlite: { text: 'text', bytes: 'blob' },
  postgres: { text: 'text collate "C"', bytes: 'bytea' },
} as const satisfies Record<string, ColumnTypes>

/** The statements that create every table and index. */
export function schemaStatements(engine: keyof typeof typesOf): readonly string[] {
  const both = tables.flatMap((statements) => statements(typesOf[engine]))
  return engine === 'sqlite' ? [...both, ...taskSearchTables] : both
}

/** Fails for a database of another Waymark version: this one would misread it. */
export function assertSchema(database: string, version: number, newDatabaseHint: string): void {
  if (version > schemaVersion) throw newerSchema(database, version)
  assertSchemaNotOlder(database, version, newDatabaseHint)
}

/** A running server may still read a database that a newer one upgraded. */
export function assertSchemaNotOlder(database: string, version: number, newDatabaseHint: string): void {
  if (version >= schemaVersion) return
  throw new Failure(
    'UNAVAILABLE',
    `The database ${database} has schema ${version}, made by a Waymark from before its first release; this one reads only schema ${schemaVersion}.`,
    { reason: 'schema_too_old', hint: newDatabaseHint },
  )
}

function newerSchema(database: string, version: number): Failure {
  return new Failure(
    'UNAVAILABLE',
    `The database ${database} has schema ${version}, made by a newer Waymark; this one reads only schema ${schemaVersion}.`,
    { reason: 'schema_too_new', hint: 'Update Waymark, for example with `npm install -g waymark@latest`.' },
  )
}

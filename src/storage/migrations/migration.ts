import { type QueryExecutorProvider, sql } from 'kysely'
import { Failure } from '../../domain/failure.ts'

/** One step of the schema. A step that was released is never edited: what is wrong is fixed by a later one. */
export interface Migration {
  /** 1 for the first; consecutive. */
  readonly version: number
  readonly title: string
  /** Removes or rewrites what cannot be made again: a copy is made before it runs, or asked for. */
  readonly destructive: boolean
  /** SQL that every engine understands, in the engine's own words where they differ; run in one transaction. */
  readonly statements: (words: Words) => readonly string[]
  /** What SQL alone cannot say, in the same transaction, after the statements. */
  readonly settle?: (db: QueryExecutorProvider, words: Words) => Promise<void>
}

export type Engine = 'sqlite' | 'postgres'

/** Where the engines differ. Times and counts are `bigint` in both, truth values a `bigint` of 0 or 1, JSON is text. */
export interface Words {
  readonly engine: Engine
  /** The type of a column of text, ordered by its bytes whatever the database's locale. */
  readonly text: string
}

const wordsOf = {
  sqlite: { engine: 'sqlite', text: 'text' },
  postgres: { engine: 'postgres', text: 'text collate "C"' },
} as const satisfies Record<Engine, Words>

/** Runs a step in the transaction that is open. Who calls it keeps the version. */
export async function runStep(
  { statements, settle }: Migration,
  engine: Engine,
  db: QueryExecutorProvider,
): Promise<void> {
  const words = wordsOf[engine]
  for (const statement of statements(words)) await sql.raw(statement).execute(db)
  await settle?.(db, words)
}

/** The step after a version; undefined for the newest schema. */
export function stepAfter(migrations: readonly Migration[], version: number): Migration | undefined {
  return migrations.find((step) => step.version > version)
}

export function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0
}

/** Fails for a database that a later release has written: this one would misread it. */
export function assertKnown(place: string, version: number, newest: number): void {
  if (version <= newest) return
  throw new Failure(
    'UNAVAILABLE',
    `The database ${place} has schema ${version}, made by a newer Waymark; this one knows up to ${newest}.`,
    { hint: 'Update Waymark, for example with `npm install -g waymark@latest`.' },
  )
}

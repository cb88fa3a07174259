import { statSync } from 'node:fs'
import type { Kysely } from 'kysely'
import type { Tables } from '../schema/tables.ts'
import { readProjectId } from './project-folder.ts'

export interface Whereabouts {
  readonly root: string
  /** Several projects may live in the database. */
  readonly shared: boolean
}

export interface ResolvedProject {
  readonly id: string
  /** Whether the root is recorded for it already. */
  readonly rootKnown: boolean
}

/** Which project of the database a root belongs to. Null when it has none yet. */
export async function resolveProject(
  db: Kysely<Tables>,
  { root, shared }: Whereabouts,
): Promise<ResolvedProject | null> {
  const known = await db
    .selectFrom('project_root')
    .select('project_id')
    .where('path', '=', root)
    .executeTakeFirst()
  if (known) return { id: known.project_id, rootKnown: true }
  const id = (await movedProject(db, root)) ?? (shared ? null : await firstProject(db))
  return id === null ? null : { id, rootKnown: false }
}

/** The project that the folder says it is, unless it is still where it was: then the folder is a copy. */
async function movedProject(db: Kysely<Tables>, root: string): Promise<string | null> {
  const id = readProjectId(root)
  if (id === null) return null
  const roots = await db
    .selectFrom('project_root')
    .select('path')
    .where('project_id', '=', id)
    .orderBy('seen_at', 'desc')
    .limit(20)
    .execute()
  const isCopy = roots.some(({ path }) => readProjectId(path) === id && !isSameFolder(path, root))
  return roots.length === 0 || isCopy ? null : id
}

async function firstProject(db: Kysely<Tables>): Promise<string | null> {
  const row = await db.selectFrom('project').select('id').orderBy('created_at').limit(1).executeTakeFirst()
  return row?.id ?? null
}

function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

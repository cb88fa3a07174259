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

interface Root {
  readonly path: string
  readonly project_id: string
}

/** Which project of the database a root belongs to. Null when it has none yet. */
export async function resolveProject(
  db: Kysely<Tables>,
  { root, shared }: Whereabouts,
): Promise<ResolvedProject | null> {
  const named = readProjectId(root)
  const roots = await rootsOfCandidates(db, root, named)
  const recorded = roots.find(({ path }) => path === root)?.project_id ?? null
  const others = roots.filter(({ path }) => path !== root)
  const id =
    (named !== null && isMoved(named, root, { recorded, others }) ? named : null) ??
    (recorded !== null && !livesElsewhere(recorded, root, others) ? recorded : null) ??
    (shared ? null : await firstProject(db))
  return id === null ? null : { id, rootKnown: id === recorded }
}

/** The roots of the project recorded for this root, and of the one that the folder says it is. */
function rootsOfCandidates(db: Kysely<Tables>, root: string, named: string | null): Promise<Root[]> {
  const recorded = db.selectFrom('project_root').select('project_id').where('path', '=', root)
  return db
    .selectFrom('project_root')
    .select(['path', 'project_id'])
    .where((eb) => eb.or([eb('project_id', 'in', recorded), eb('project_id', '=', named ?? '')]))
    .orderBy('seen_at', 'desc')
    .limit(100)
    .execute()
}

/** The folder is the project that it says it is, unless that one still lives elsewhere: then the folder is a copy. */
function isMoved(
  named: string,
  root: string,
  known: { readonly recorded: string | null; readonly others: readonly Root[] },
): boolean {
  if (known.recorded === named) return true
  const exists = known.others.some(({ project_id }) => project_id === named)
  return exists && !livesElsewhere(named, root, known.others)
}

function livesElsewhere(id: string, root: string, others: readonly Root[]): boolean {
  return others.some(
    ({ path, project_id }) => project_id === id && readProjectId(path) === id && !isSameFolder(path, root),
  )
}

async function firstProject(db: Kysely<Tables>): Promise<string | null> {
  const row = await db.selectFrom('project').select('id').orderBy('created_at').limit(1).executeTakeFirst()
  return row?.id ?? null
}

function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

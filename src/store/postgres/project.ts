import { basename } from 'node:path'
import type { Kysely } from 'kysely'
import { serverProject } from '../../people/domain/identity.ts'
import { projectNamed } from '../../project/tables/project-name.ts'
import { isProjectElsewhere, type ResolvedProject, readProjectId } from '../record/project.ts'
import type { Tables } from '../tables/tables.ts'

/** Which project is meant: one by its id, or the one of a folder of this machine. */
export type ProjectQuery = { readonly id: string } | FolderProjectQuery

export interface FolderProjectQuery {
  /** Absolute path of the project's root. */
  readonly root: string
  /** What the user calls the project; null to take its folder's name. */
  readonly name: string | null
  /** The machine whose folder it is: the same path on another one is another work tree. */
  readonly machine: string
}

/** What a new project would be called. */
export function nameOf({ name, root }: FolderProjectQuery): string {
  return name ?? basename(root)
}

/** What a folder is recorded as in a database that several machines share. */
export function rootOf({ root, machine }: Pick<FolderProjectQuery, 'root' | 'machine'>): string {
  return `${machine}:${root}`
}

/**
 * By the id that the folder says it has, else by the name that the user gave, else by machine and folder as recorded.
 * Null where there is none yet.
 */
export async function findProject(db: Kysely<Tables>, wanted: ProjectQuery): Promise<ResolvedProject | null> {
  if ('id' in wanted)
    return (await isProjectStored(db, wanted.id)) ? { id: wanted.id, rootKnown: true } : null
  const said = readProjectId(wanted.root)
  const roots = await rootsOf(db, wanted, said)
  const here = rootOf(wanted)
  const recorded = roots.find(({ path }) => path === here)?.project_id ?? null
  const known = (id: string): ResolvedProject => ({ id, rootKnown: id === recorded })
  if (
    said !== null &&
    said !== serverProject &&
    (await isProjectStored(db, said)) &&
    !isCopy(said, wanted, roots)
  )
    return known(said)
  if (wanted.name !== null) {
    const named = await projectNamed(db, wanted.name)
    return named === null ? null : known(named)
  }
  return recorded !== null && !isCopy(recorded, wanted, roots) ? known(recorded) : null
}

interface PostgresRootRow {
  readonly path: string
  readonly project_id: string
}

/** Of this folder, and of the project that it says it is. */
function rootsOf(
  db: Kysely<Tables>,
  wanted: FolderProjectQuery,
  said: string | null,
): Promise<PostgresRootRow[]> {
  const recorded = db.selectFrom('project_root').select('project_id').where('path', '=', rootOf(wanted))
  return db
    .selectFrom('project_root')
    .select(['path', 'project_id'])
    .where((eb) => eb.or([eb('project_id', 'in', recorded), eb('project_id', '=', said ?? '')]))
    .orderBy('seen_at', 'desc')
    .limit(100)
    .execute()
}

/** Whether the folder is a copy of another one of this machine, in which the project still lives. */
function isCopy(
  id: string,
  { root, machine }: FolderProjectQuery,
  roots: readonly PostgresRootRow[],
): boolean {
  const ofMachine = roots
    .filter(({ path }) => path.startsWith(`${machine}:`))
    .map(({ path, project_id }) => ({ path: path.slice(machine.length + 1), project_id }))
  return isProjectElsewhere(
    id,
    root,
    ofMachine.filter(({ path }) => path !== root),
  )
}

async function isProjectStored(db: Kysely<Tables>, id: string): Promise<boolean> {
  const row = await db.selectFrom('project').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

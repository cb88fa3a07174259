import { basename } from 'node:path'
import type { Kysely } from 'kysely'
import { serverProject } from '../../people/domain/identity.ts'
import { projectIdNamed } from '../../project/tables/project-name.ts'
import { isProjectElsewhere, type ResolvedProject, readProjectId } from '../record/project.ts'
import type { Tables } from '../tables/tables.ts'

/** A project by its id, or by a folder of this machine. */
export type ProjectQuery = { readonly id: string } | FolderProjectQuery

export interface FolderProjectQuery {
  /** Absolute path of the project's root. */
  readonly root: string
  /** The name that the user gave; null for the folder's name. */
  readonly name: string | null
  /** The machine of the folder: the same path on another machine is another work tree. */
  readonly machine: string
}

/** The name of a new project. */
export function nameOf({ name, root }: FolderProjectQuery): string {
  return name ?? basename(root)
}

/** The key of a folder in a database that several machines share. */
export function folderKeyOf({ root, machine }: Pick<FolderProjectQuery, 'root' | 'machine'>): string {
  return `${machine}:${root}`
}

/** Finds a project by the id in its folder, else by the given name, else by machine and folder. */
export async function findProject(db: Kysely<Tables>, query: ProjectQuery): Promise<ResolvedProject | null> {
  if ('id' in query) return (await isProjectStored(db, query.id)) ? { id: query.id, rootKnown: true } : null
  const folderProjectId = readProjectId(query.root)
  const roots = await rootsOf(db, query, folderProjectId)
  const root = folderKeyOf(query)
  const recorded = roots.find(({ path }) => path === root)?.project_id ?? null
  const resolvedProject = (id: string): ResolvedProject => ({ id, rootKnown: id === recorded })
  if (
    folderProjectId !== null &&
    folderProjectId !== serverProject &&
    (await isProjectStored(db, folderProjectId)) &&
    !isCopy(folderProjectId, query, roots)
  )
    return resolvedProject(folderProjectId)
  if (query.name !== null) {
    const named = await projectIdNamed(db, query.name)
    return named === null ? null : resolvedProject(named)
  }
  return recorded !== null && !isCopy(recorded, query, roots) ? resolvedProject(recorded) : null
}

interface PostgresRootRow {
  readonly path: string
  readonly project_id: string
}

/** The recorded roots of this folder, and of the project that the folder names. */
function rootsOf(
  db: Kysely<Tables>,
  query: FolderProjectQuery,
  folderProjectId: string | null,
): Promise<PostgresRootRow[]> {
  const recorded = db.selectFrom('project_root').select('project_id').where('path', '=', folderKeyOf(query))
  return db
    .selectFrom('project_root')
    .select(['path', 'project_id'])
    .where((eb) => eb.or([eb('project_id', 'in', recorded), eb('project_id', '=', folderProjectId ?? '')]))
    .orderBy('seen_at', 'desc')
    .limit(100)
    .execute()
}

/** Whether the folder is a copy of another folder on this machine that still has the project. */
function isCopy(
  id: string,
  { root, machine }: FolderProjectQuery,
  roots: readonly PostgresRootRow[],
): boolean {
  const rootsOfMachine = roots
    .filter(({ path }) => path.startsWith(`${machine}:`))
    .map(({ path, project_id }) => ({ path: path.slice(machine.length + 1), project_id }))
  return isProjectElsewhere(
    id,
    root,
    rootsOfMachine.filter(({ path }) => path !== root),
  )
}

async function isProjectStored(db: Kysely<Tables>, id: string): Promise<boolean> {
  const row = await db.selectFrom('project').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

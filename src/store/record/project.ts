import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Kysely } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { beforeFirst } from '../../events/log/event-log.ts'
import { entryAt, writeContained } from '../../kernel/files/contained-file.ts'
import { readRegularSync } from '../../kernel/files/regular-file.ts'
import { serverProject } from '../../people/domain/identity.ts'
import type { ProjectionContext, Tables } from '../tables/tables.ts'

export interface ProjectTable {
  id: string
  /** Of the last log entry. */
  seq: number
  /** Hash of the last log entry. */
  head: string
  created_at: number
}

/** A folder of the project. A moved folder adds one. */
export interface ProjectRootTable {
  path: string
  project_id: string
  seen_at: number
}

export interface ProjectLocation {
  readonly root: string
  /** Whether the database may contain several projects. */
  readonly shared: boolean
  /** The id of a project without a folder. */
  readonly project?: string
}

export interface ResolvedProject {
  readonly id: string
  /** Whether the root is already recorded for it. */
  readonly rootKnown: boolean
}

interface ProjectRootRow {
  readonly path: string
  readonly project_id: string
}

/** The project of a root; null without one. */
export async function resolveProject(
  db: Kysely<Tables>,
  { root, shared, project }: ProjectLocation,
): Promise<ResolvedProject | null> {
  if (project !== undefined)
    return (await hasProjectRow(db, project)) ? { id: project, rootKnown: true } : null
  const named = readProjectId(root)
  const roots = await rootsOfCandidates(db, root, named)
  const recorded = roots.find(({ path }) => path === root)?.project_id ?? null
  const others = roots.filter(({ path }) => path !== root)
  const id =
    (named !== null && isMoved(named, root, { recorded, others }) ? named : null) ??
    (recorded !== null && !isProjectElsewhere(recorded, root, others) ? recorded : null) ??
    (shared ? null : await firstProject(db))
  return id === null ? null : { id, rootKnown: id === recorded }
}

/** The recorded roots of this folder, and of the project that the folder names. */
function rootsOfCandidates(
  db: Kysely<Tables>,
  root: string,
  named: string | null,
): Promise<ProjectRootRow[]> {
  const recorded = db.selectFrom('project_root').select('project_id').where('path', '=', root)
  return db
    .selectFrom('project_root')
    .select(['path', 'project_id'])
    .where((eb) => eb.or([eb('project_id', 'in', recorded), eb('project_id', '=', named ?? '')]))
    .orderBy('seen_at', 'desc')
    .limit(100)
    .execute()
}

/** A folder belongs to the project that it names, unless that project still exists elsewhere: then it is a copy. */
function isMoved(
  named: string,
  root: string,
  roots: { readonly recorded: string | null; readonly others: readonly ProjectRootRow[] },
): boolean {
  if (roots.recorded === named) return true
  const exists = roots.others.some(({ project_id }) => project_id === named)
  return exists && !isProjectElsewhere(named, root, roots.others)
}

/** Whether the project exists in another of these folders. */
export function isProjectElsewhere(id: string, root: string, others: readonly ProjectRootRow[]): boolean {
  return others.some(
    ({ path, project_id }) => project_id === id && readProjectId(path) === id && !isSameFolder(path, root),
  )
}

async function hasProjectRow(db: Kysely<Tables>, id: string): Promise<boolean> {
  return (await db.selectFrom('project').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

async function firstProject(db: Kysely<Tables>): Promise<string | null> {
  const row = await db
    .selectFrom('project')
    .select('id')
    .where('id', '!=', serverProject)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? null
}

function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

const folderName = '.waymark'

/** Only processes are committed; everything else in the folder is local. */
const ignored = '*\n!/processes/\n!/processes/**\n'

/** The project id in a folder; null without one. */
export function readProjectId(root: string): string | null {
  try {
    return (
      readRegularSync(join(root, folderName, 'project-id'))
        .toString('utf8')
        .trim() || null
    )
  } catch {
    return null
  }
}

/** Allows a moved folder to be found again in a shared database. */
export function writeProjectId(root: string, id: string): void {
  if (readProjectId(root) === id) return
  writeIgnore(join(root, folderName))
  writeContained(root, join(folderName, 'project-id'), `${id}\n`)
}

/** Excludes the folder from the repository, unless it has its own file. Failures are ignored, since the record is in the database. */
export function writeIgnore(folder: string): void {
  if (entryAt(join(folder, '.gitignore')) !== undefined) return
  writeContained(dirname(folder), join(basename(folder), '.gitignore'), ignored)
}

export async function applyProjectCreated(
  { db, at: createdAt }: ProjectionContext,
  { id, root }: ProjectEventOf<'project.created'>,
): Promise<void> {
  await db.insertInto('project').values({ id, seq: 0, head: beforeFirst, created_at: createdAt }).execute()
  if (root !== '') await markRootSeen({ db, projectId: id, at: createdAt }, root)
}

/** Records a folder of the project. In a shared file a folder belongs to its latest project. */
export async function markRootSeen(
  { db, projectId, at: seenAt }: Pick<ProjectionContext, 'db' | 'projectId' | 'at'>,
  root: string,
): Promise<void> {
  await db
    .insertInto('project_root')
    .values({ path: root, project_id: projectId, seen_at: seenAt })
    .onConflict((conflict) => conflict.column('path').doUpdateSet({ project_id: projectId, seen_at: seenAt }))
    .execute()
}

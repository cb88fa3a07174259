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

/** A folder where the project was seen. A moved folder adds one. */
export interface ProjectRootTable {
  path: string
  project_id: string
  seen_at: number
}

export interface ProjectLocation {
  readonly root: string
  /** Several projects may live in the database. */
  readonly shared: boolean
  /** The id of a project that lives in no folder. */
  readonly project?: string
}

export interface ResolvedProject {
  readonly id: string
  /** Whether the root is recorded for it already. */
  readonly rootKnown: boolean
}

interface ProjectRootRow {
  readonly path: string
  readonly project_id: string
}

/** Which project of the database a root belongs to. Null when it has none yet. */
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

/** The roots of the project recorded for this root, and of the one that the folder says it is. */
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

/** The folder is the project that it says it is, unless that one still lives elsewhere: then the folder is a copy. */
function isMoved(
  named: string,
  root: string,
  known: { readonly recorded: string | null; readonly others: readonly ProjectRootRow[] },
): boolean {
  if (known.recorded === named) return true
  const exists = known.others.some(({ project_id }) => project_id === named)
  return exists && !isProjectElsewhere(named, root, known.others)
}

/** Whether the project lives in another of these folders. */
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

/** Processes are committed; everything else in the folder is this machine's. */
const ignored = '*\n!/processes/\n!/processes/**\n'

/** The project that a folder says it belongs to. Null when it says nothing. */
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

/** Lets a moved folder be found again in a database that several projects share. */
export function writeProjectId(root: string, id: string): void {
  if (readProjectId(root) === id) return
  writeIgnore(join(root, folderName))
  writeContained(root, join(folderName, 'project-id'), `${id}\n`)
}

/**
 * Keeps the folder out of the repository. A file that is there already is left as it is. What is recorded is safe in the
 * database: a folder that cannot be written to is no reason to fail.
 */
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

/** Remembers a folder of the project. In a shared file a folder belongs to the project that was there last. */
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

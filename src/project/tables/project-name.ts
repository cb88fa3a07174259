import { basename } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { serverProject } from '../../people/domain/identity.ts'
import type { ProjectListing } from '../../people/ports/identity-reads.ts'
import type { Tables } from '../../store/tables/tables.ts'

// In a database file only projects that were added by name have one; the others are found by folder.

/** The project of a name. Null where there is none. */
export async function projectIdNamed(db: Kysely<Tables>, name: string): Promise<string | null> {
  const { rows } = await sql<{ readonly project_id: string }>`
    select project_id from project_name where name = ${keyOf(name)}`.execute(db)
  return rows[0]?.project_id ?? null
}

export async function isProjectNamed(db: Kysely<Tables>, id: string): Promise<boolean> {
  const { rows } = await sql`select 1 from project_name where project_id = ${id}`.execute(db)
  return rows.length > 0
}

/** Gives a new project the requested name, with a number if that is taken. */
export async function nameProject(db: Kysely<Tables>, id: string, requested: string): Promise<void> {
  const name = keyOf(requested)
  const { rows } = await sql<{ readonly name: string }>`
    select name from project_name where name = ${name} or name like ${`${name}-%`}`.execute(db)
  const taken = new Set([...rows.map((row) => row.name), serverProject])
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`
  await sql`insert into project_name (name, project_id) values (${free}, ${id})`.execute(db)
}

/** Gives a project exactly this name. */
export async function renameProject(db: Kysely<Tables>, id: string, name: string): Promise<void> {
  await sql`delete from project_name where project_id = ${id}`.execute(db)
  await sql`insert into project_name (name, project_id) values (${name}, ${id})`.execute(db)
}

/** Frees the name of a project that another one replaces. Returns its new name. */
export async function releaseName(db: Kysely<Tables>, id: string, root: string): Promise<string> {
  const { rows } = await sql<{ readonly name: string }>`
    delete from project_name where project_id = ${id} returning name`.execute(db)
  await nameProject(db, id, `${rows[0]?.name ?? basename(root)}-replaced`)
  const named = await sql<{ readonly name: string }>`
    select name from project_name where project_id = ${id}`.execute(db)
  return named.rows[0]?.name ?? id
}

interface ProjectRow {
  readonly id: string
  readonly name: string | null
  readonly root: string | null
  readonly events: number
  readonly waiting: number
  readonly open_attempts: number
  readonly last_at: number | null
}

/** Every project with its activity. A project without name and folder does not exist yet. */
export async function listedProjects(db: Kysely<Tables>): Promise<readonly ProjectListing[]> {
  const { rows } = await sql<ProjectRow>`
    select project.id, project_name.name, project.seq as events,
      (select path from project_root where project_root.project_id = project.id
        order by seen_at desc, path limit 1) as root,
      (select count(*) from inbox_item where inbox_item.project_id = project.id and inbox_item.status = 'open') as waiting,
      (select count(*) from attempt
        where attempt.project_id = project.id and attempt.status = 'open') as open_attempts,
      (select project_event.recorded_at from project_event where project_event.project_id = project.id and project_event.seq = project.seq) as last_at
    from project left join project_name on project_name.project_id = project.id
    where project.id <> ${serverProject}
    order by coalesce(project_name.name, project.id) limit 1000`.execute(db)
  return rows.flatMap(
    ({ id, name, root, events, waiting, open_attempts: openAttempts, last_at: lastEventAt }) => {
      if (name === null && root === null) return []
      const displayName = name ?? keyOf(basename(root ?? ''))
      return [{ id, name: displayName, named: name !== null, events, waiting, openAttempts, lastEventAt }]
    },
  )
}

export interface NamedProject {
  readonly id: string
  /** Lower case, digits and dashes; unique. */
  readonly name: string
}

/** Every project of a server, in the order of their names. */
export async function namedProjects(db: Kysely<Tables>): Promise<readonly NamedProject[]> {
  const { rows } = await sql<NamedProject>`
    select project_id as id, name from project_name order by name limit 10000`.execute(db)
  return rows
}

/** A name in the form for URLs. */
function keyOf(name: string): string {
  const key = name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return key === '' ? 'project' : key
}

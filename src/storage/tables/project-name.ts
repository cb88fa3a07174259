import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

// Only a database on a server has names of projects: in a file they are found by their folders.

/** The project of a name. Null where there is none. */
export async function projectNamed(db: Kysely<Tables>, name: string): Promise<string | null> {
  const { rows } = await sql<{ readonly project_id: string }>`
    select project_id from project_name where name = ${keyOf(name)}`.execute(db)
  return rows[0]?.project_id ?? null
}

export async function isNamed(db: Kysely<Tables>, id: string): Promise<boolean> {
  const { rows } = await sql`select 1 from project_name where project_id = ${id}`.execute(db)
  return rows.length > 0
}

/** Gives a new project the name that was wished for, with a number where that is taken. */
export async function nameProject(db: Kysely<Tables>, id: string, wished: string): Promise<void> {
  const name = keyOf(wished)
  const { rows } = await sql<{ readonly name: string }>`
    select name from project_name where name = ${name} or name like ${`${name}-%`}`.execute(db)
  const taken = new Set(rows.map((row) => row.name))
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`
  await sql`insert into project_name (name, project_id) values (${free}, ${id})`.execute(db)
}

export interface NamedProject {
  readonly id: string
  /** Lower case, digits and dashes; no two are alike. */
  readonly name: string
}

/** Every project of a server, in the order of their names. */
export async function namedProjects(db: Kysely<Tables>): Promise<readonly NamedProject[]> {
  const { rows } = await sql<NamedProject>`
    select project_id as id, name from project_name order by name limit 10000`.execute(db)
  return rows
}

/** A name as it stands in addresses. */
function keyOf(name: string): string {
  const key = name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return key === '' ? 'project' : key
}

import type { Insertable, Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { PersonId } from '../../kernel/id.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import { type Person, serverProject } from '../domain/identity.ts'

/** In the reserved project `server`. */
export interface PersonTable {
  project_id: string
  id: string
  seq: number
  name: string
  email: string | null
  issuer: string | null
  subject: string | null
  admin: number
  disabled_at: number | null
  created_at: number
}

const most = 1000

function personRow({ projectId, seq }: RowKey, person: Person): Insertable<PersonTable> {
  const { id, name, email, issuer, subject, admin, disabledAt, createdAt } = person
  const words = { name, email, issuer, subject }
  return {
    project_id: projectId,
    id,
    seq,
    ...words,
    admin: Number(admin),
    disabled_at: disabledAt,
    created_at: createdAt,
  }
}

export function personOf(row: Selectable<PersonTable>): Person {
  return {
    id: row.id as PersonId, // a brand
    name: row.name,
    email: row.email,
    issuer: row.issuer,
    subject: row.subject,
    admin: row.admin === 1,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  }
}

export async function applyPersonAdded(
  projecting: ProjectionContext,
  { person }: ProjectEventOf<'person.added'>,
): Promise<void> {
  await projecting.db.insertInto('person').values(personRow(projecting, person)).execute()
}

export async function applyPersonChanged(
  { db, projectId }: ProjectionContext,
  { personId, changes }: ProjectEventOf<'person.changed'>,
): Promise<void> {
  const { admin, disabledAt, ...words } = changes
  await db
    .updateTable('person')
    .set({
      ...words,
      ...(admin !== undefined && { admin: Number(admin) }),
      ...(disabledAt !== undefined && { disabled_at: disabledAt }),
    })
    .where('project_id', '=', projectId)
    .where('id', '=', personId)
    .execute()
}

export function personReads({ db }: Pick<ReadScope, 'db'>) {
  const people = () => db.selectFrom('person').selectAll().where('project_id', '=', serverProject)
  return {
    async person(id: string): Promise<Person | null> {
      const row = await people().where('id', '=', id).executeTakeFirst()
      return row ? personOf(row) : null
    },
    async peopleNamed(words: string): Promise<readonly Person[]> {
      const rows = await people()
        .where((eb) =>
          eb.or([eb('id', '=', words), eb('email', '=', words.toLowerCase()), eb('name', '=', words)]),
        )
        .orderBy('seq')
        .limit(10)
        .execute()
      return rows.map(personOf)
    },
    async personOf(issuer: string, subject: string): Promise<Person | null> {
      const row = await people()
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst()
      return row ? personOf(row) : null
    },
    async people(): Promise<readonly Person[]> {
      const rows = await people().orderBy('seq').limit(most).execute()
      return rows.map(personOf)
    },
    async admins(): Promise<number> {
      const { total } = await db
        .selectFrom('person')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('project_id', '=', serverProject)
        .where('admin', '=', 1)
        .where('disabled_at', 'is', null)
        .executeTakeFirstOrThrow()
      return total
    },
  }
}

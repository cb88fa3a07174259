import type { Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { PersonId } from '../../kernel/id.ts'
import { parseColumn } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import type { Access } from '../domain/access.ts'
import { type Member, membershipOf, serverProject } from '../domain/identity.ts'
import type { MemberListing } from '../ports/identity-reads.ts'
import { personOf } from './person.ts'

/** In the project that the person is a member of. */
export interface MemberTable {
  project_id: string
  person_id: string
  seq: number
  access: string
  /** JSON: a list of words. */
  roles: string
}

const most = 1000

function memberOf(row: Pick<Selectable<MemberTable>, 'person_id' | 'access' | 'roles'>): Member {
  return {
    personId: row.person_id as PersonId, // a brand
    access: row.access as Access, // as it was written
    roles: parseColumn<readonly string[]>(row.roles),
  }
}

export async function applyMemberSet(
  { db, projectId, seq }: ProjectionContext,
  { member }: ProjectEventOf<'member.set'>,
): Promise<void> {
  const values = { access: member.access, roles: JSON.stringify(member.roles) }
  await db
    .insertInto('member')
    .values({ project_id: projectId, person_id: member.personId, seq, ...values })
    .onConflict((conflict) => conflict.columns(['project_id', 'person_id']).doUpdateSet(values))
    .execute()
}

export async function applyMemberRemoved(
  { db, projectId }: ProjectionContext,
  { personId }: ProjectEventOf<'member.removed'>,
): Promise<void> {
  await db
    .deleteFrom('member')
    .where('project_id', '=', projectId)
    .where('person_id', '=', personId)
    .execute()
}

export function memberReads({ db, projectId }: ReadScope) {
  return {
    async members(): Promise<readonly MemberListing[]> {
      const rows = await db
        .selectFrom('member')
        .innerJoin('person', 'person.id', 'member.person_id')
        .selectAll('person')
        .select(['member.person_id', 'member.access', 'member.roles'])
        .where('member.project_id', '=', projectId)
        .where('person.project_id', '=', serverProject)
        .orderBy('member.seq')
        .limit(most)
        .execute()
      const own = new Set(rows.map(({ id }) => id))
      const admins = await db
        .selectFrom('person')
        .selectAll()
        .where('project_id', '=', serverProject)
        .where('admin', '=', 1)
        .where('disabled_at', 'is', null)
        .orderBy('seq')
        .limit(most)
        .execute()
      const listings = [
        ...rows.map((row) => ({ member: memberOf(row), person: personOf(row) })),
        ...admins.filter(({ id }) => !own.has(id)).map((row) => ({ member: null, person: personOf(row) })),
      ]
      return listings.flatMap(({ member, person }) => {
        const membership = membershipOf(person, member)
        return membership === null ? [] : [{ member: membership, person }]
      })
    },
    async member(personId: string): Promise<Member | null> {
      const row = await db
        .selectFrom('member')
        .select(['person_id', 'access', 'roles'])
        .where('project_id', '=', projectId)
        .where('person_id', '=', personId)
        .executeTakeFirst()
      return row ? memberOf(row) : null
    },
    async owners(): Promise<number> {
      const { total } = await db
        .selectFrom('member')
        .innerJoin('person', 'person.id', 'member.person_id')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('member.project_id', '=', projectId)
        .where('member.access', '=', 'owner')
        .where('person.project_id', '=', serverProject)
        .where('person.disabled_at', 'is', null)
        .executeTakeFirstOrThrow()
      return total
    },
    async memberships(personId: string) {
      const rows = await db
        .selectFrom('member')
        .select(['project_id', 'person_id', 'access', 'roles'])
        .where('person_id', '=', personId)
        .orderBy('project_id')
        .limit(most)
        .execute()
      return rows.map((row) => ({ projectId: row.project_id, member: memberOf(row) }))
    },
  }
}

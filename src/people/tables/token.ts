import type { Insertable, Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { PersonId, TokenId } from '../../kernel/id.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { Access } from '../domain/access.ts'
import { serverProject, type Token, type TokenKind } from '../domain/identity.ts'
import type { TokenListing } from '../ports/identity-reads.ts'
import { personOf } from './person.ts'

/** In the reserved project `server`. The hash of its secret is in the table `secret`. */
export interface TokenTable {
  project_id: string
  id: string
  seq: number
  name: string
  kind: string
  /** The project that it is for; null for all of the person's. */
  only_project: string | null
  role: string | null
  /** The access limit; null if there is none. */
  max_access: string | null
  person_id: string
  /** The person who created it; null for one created with direct access to the database. */
  created_by: string | null
  /** The token that it was created with. */
  parent_id: string | null
  created_at: number
  expires_at: number
  revoked_at: number | null
  revoked_by: string | null
}

const most = 1000

function tokenRow({ projectId, seq }: RowKey, token: Token): Insertable<TokenTable> {
  return {
    project_id: projectId,
    id: token.id,
    seq,
    name: token.name,
    kind: token.kind,
    only_project: token.projectId,
    role: token.role,
    max_access: token.most ?? null,
    person_id: token.personId,
    created_by: token.createdBy,
    parent_id: token.parentId,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    revoked_at: token.revokedAt,
    revoked_by: token.revokedBy,
  }
}

function tokenOf(row: Omit<Selectable<TokenTable>, 'project_id' | 'seq'>): Token {
  return {
    id: row.id as TokenId, // a brand
    name: row.name,
    kind: row.kind as TokenKind, // as it was written
    projectId: row.only_project,
    role: row.role,
    ...(row.max_access !== null && { most: row.max_access as Access }), // as it was written
    personId: row.person_id as PersonId, // a brand
    createdBy: row.created_by as PersonId | null, // a brand
    parentId: row.parent_id as TokenId | null, // a brand
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
  }
}

export async function applyTokenCreated(
  projecting: ProjectionContext,
  { token }: ProjectEventOf<'token.created'>,
): Promise<void> {
  await projecting.db.insertInto('token').values(tokenRow(projecting, token)).execute()
}

export async function applyTokenRevoked(
  { db, projectId, at: revokedAt, actor }: ProjectionContext,
  { tokenId }: ProjectEventOf<'token.revoked'>,
): Promise<void> {
  await db
    .updateTable('token')
    .set({ revoked_at: revokedAt, revoked_by: actor.name })
    .where('project_id', '=', projectId)
    .where('id', '=', tokenId)
    .execute()
}

export function tokenReads({ db }: Pick<ReadScope, 'db'>) {
  return {
    async token(id: string): Promise<Token | null> {
      const row = await db
        .selectFrom('token')
        .selectAll()
        .where('project_id', '=', serverProject)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? tokenOf(row) : null
    },
    /** The valid tokens that were created with these, directly or indirectly. */
    async tokensMadeWith(ids: readonly string[]): Promise<readonly Token[]> {
      const rows = await db
        .withRecursive('made', (query) =>
          query
            .selectFrom('token')
            .select('id')
            .where('project_id', '=', serverProject)
            .where('parent_id', 'in', ids)
            .union(
              query
                .selectFrom('token')
                .innerJoin('made', 'made.id', 'token.parent_id')
                .select('token.id')
                .where('token.project_id', '=', serverProject),
            ),
        )
        .selectFrom('token')
        .innerJoin('made', 'made.id', 'token.id')
        .selectAll('token')
        .where('token.project_id', '=', serverProject)
        .where('token.revoked_at', 'is', null)
        .orderBy('token.seq')
        .execute()
      return rows.map(tokenOf)
    },
    /** The valid tokens that a person created for other people. */
    async tokensMadeForOthers(personId: string): Promise<readonly Token[]> {
      const rows = await db
        .selectFrom('token')
        .selectAll()
        .where('project_id', '=', serverProject)
        .where('created_by', '=', personId)
        .where('person_id', '!=', personId)
        .where('revoked_at', 'is', null)
        .orderBy('seq')
        .execute()
      return rows.map(tokenOf)
    },
    async tokenUsers(): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('token')
        .leftJoin('secret', (join) =>
          join.onRef('secret.id', '=', 'token.id').on('secret.project_id', '=', serverProject),
        )
        .select('token.person_id')
        .distinct()
        .where('token.project_id', '=', serverProject)
        .where('token.kind', '=', 'person')
        // A token may be revoked before its use was stored.
        .where((eb) => eb.or([eb('token.revoked_at', 'is not', null), eb('secret.used_at', 'is not', null)]))
        .limit(most)
        .execute()
      return new Set(rows.map(({ person_id: id }) => id))
    },
    async tokens({
      personId,
      revoked = false,
    }: {
      readonly personId?: string
      readonly revoked?: boolean
    }): Promise<readonly TokenListing[]> {
      const rows = await db
        .selectFrom('token')
        .innerJoin('person', 'person.id', 'token.person_id')
        .leftJoin('secret', (join) =>
          join.onRef('secret.id', '=', 'token.id').on('secret.project_id', '=', serverProject),
        )
        .selectAll('person')
        .select([
          'token.id as token_id',
          'token.name as token_name',
          'token.kind',
          'token.only_project',
          'token.role',
          'token.max_access',
          'token.person_id',
          'token.created_by',
          'token.parent_id',
          'token.created_at as token_created_at',
          'token.expires_at',
          'token.revoked_at',
          'token.revoked_by',
          'secret.used_at',
        ])
        .where('token.project_id', '=', serverProject)
        .where('person.project_id', '=', serverProject)
        .$if(personId !== undefined, (query) => query.where('token.person_id', '=', personId ?? ''))
        .$if(!revoked, (query) => query.where('token.revoked_at', 'is', null))
        .orderBy('token.seq', 'desc')
        .limit(most)
        .execute()
      return rows.map((row) => ({
        token: tokenOf({ ...row, id: row.token_id, name: row.token_name, created_at: row.token_created_at }),
        person: personOf(row),
        usedAt: row.used_at,
      }))
    },
  }
}

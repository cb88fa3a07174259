import type { Insertable, Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { PersonId, SessionId, TokenId } from '../../kernel/id.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import { type SignInSession, serverProject } from '../domain/identity.ts'
import type { SignInSessionListing } from '../ports/identity-reads.ts'
import { personOf } from './person.ts'

/** In the reserved project `server`. The hash of its cookie is in the table `secret`. */
export interface SessionTable {
  project_id: string
  id: string
  seq: number
  person_id: string
  token_id: string | null
  started_at: number
  expires_at: number
  ended_at: number | null
}

const most = 1000

function sessionRow({ projectId, seq }: RowKey, session: SignInSession): Insertable<SessionTable> {
  return {
    project_id: projectId,
    id: session.id,
    seq,
    person_id: session.personId,
    token_id: session.tokenId,
    started_at: session.startedAt,
    expires_at: session.expiresAt,
    ended_at: session.endedAt,
  }
}

function sessionOf(row: Omit<Selectable<SessionTable>, 'project_id' | 'seq'>): SignInSession {
  return {
    id: row.id as SessionId, // a brand
    personId: row.person_id as PersonId, // a brand
    tokenId: row.token_id as TokenId | null, // a brand
    startedAt: row.started_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
  }
}

export async function applySessionBegan(
  projecting: ProjectionContext,
  { session }: ProjectEventOf<'session.began'>,
): Promise<void> {
  await projecting.db.insertInto('session').values(sessionRow(projecting, session)).execute()
}

export async function applySessionEnded(
  { db, projectId, at: endedAt }: ProjectionContext,
  { sessionId }: ProjectEventOf<'session.ended'>,
): Promise<void> {
  await db
    .updateTable('session')
    .set({ ended_at: endedAt })
    .where('project_id', '=', projectId)
    .where('id', '=', sessionId)
    .execute()
}

export function sessionReads({ db }: Pick<ReadScope, 'db'>) {
  return {
    async session(id: string): Promise<SignInSession | null> {
      const row = await db
        .selectFrom('session')
        .selectAll()
        .where('project_id', '=', serverProject)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? sessionOf(row) : null
    },
    async sessions({
      personId,
      now,
    }: {
      readonly personId?: string
      readonly now: number
    }): Promise<readonly SignInSessionListing[]> {
      const rows = await db
        .selectFrom('session')
        .innerJoin('person', 'person.id', 'session.person_id')
        .selectAll('person')
        .select([
          'session.id as session_id',
          'session.person_id',
          'session.token_id',
          'session.started_at',
          'session.expires_at',
          'session.ended_at',
        ])
        .where('session.project_id', '=', serverProject)
        .where('person.project_id', '=', serverProject)
        .where('session.ended_at', 'is', null)
        .where('session.expires_at', '>', now)
        .$if(personId !== undefined, (query) => query.where('session.person_id', '=', personId ?? ''))
        .orderBy('session.seq', 'desc')
        .limit(most)
        .execute()
      return rows.map((row) => ({
        session: sessionOf({ ...row, id: row.session_id }),
        person: personOf(row),
      }))
    },
  }
}

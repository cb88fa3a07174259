import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { Failure } from '../../kernel/failure.ts'
import type { PersonId, TokenId, TransactionContext } from '../../kernel/id.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { Reads, SideWrite } from '../../store/ports/store.ts'
import type { Person } from '../domain/identity.ts'
import { SignInSessionEntry, signInSessionEntry } from './identity-answer.ts'
import { findPerson, recordInTeam, teamOf } from './team.ts'

export const sessionList = defineOperation({
  name: 'session_list',
  command: 'session list',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  title: 'List who is signed in to the dashboard',
  description: 'List your sessions of the dashboard. With --all, an admin sees those of everybody.',
  kind: 'query',
  input: z.strictObject({
    all: z.boolean().describe('Those of everybody; admins only').optional(),
    ...pageFields(1000, 'How many'),
  }),
  output: z.object({ sessions: list(SignInSessionEntry), ...page }),
}).handler((handling, input) => {
  const { all } = input
  const { permissions, clock } = handling
  if (all && permissions && !permissions.admin) throw adminOnlyFailure(permissions.personName)
  const everybody = all ?? !permissions
  return teamOf(handling).store.view(async ({ identities }) => {
    const filter = everybody || !permissions ? {} : { personId: permissions.personId }
    const sessions = await identities.sessions({ ...filter, now: clock.now() })
    const paging = new Paging('session_list', input, handling.actor, 1000)
    const { entries, ...rest } = paging.slice(sessions, ({ session }) => session.id)
    return {
      sessions: entries.map((listed) => signInSessionEntry(listed, permissions?.sessionId ?? null)),
      ...rest,
    }
  })
})

export const sessionEnd = defineOperation({
  name: 'session_end',
  command: 'session end',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  // Everyone may sign out.
  access: 'viewer',
  title: 'Sign out sessions of the dashboard',
  description: 'Sign out one session by id, or all of a person. Those of other people: admins only.',
  kind: 'command',
  idempotent: true,
  positional: ['id'],
  input: z.strictObject({
    id: identifier('The session: waymark session list').optional(),
    person: identifier('All sessions of this person').optional(),
  }),
  output: z.object({ ended: z.int() }),
}).handler((handling, { id, person }) =>
  recordInTeam(handling, async (reads, { at: now }) => {
    const { permissions } = handling
    const isOfOwner = handling.team?.owner !== null && id === undefined && person === undefined
    const ownId = permissions?.personId
    // At the command line of a single-user server, all sessions are meant.
    const personId =
      isOfOwner && !permissions ? null : await resolvePersonId(reads, { id, person, own: ownId })
    if (permissions && !permissions.admin && personId !== permissions.personId)
      throw adminOnlyFailure(permissions.personName)
    const ended = await endedSessions(reads, { personId, now, only: id })
    return { ...ended, answer: { ended: ended.events.length } }
  }),
)

async function resolvePersonId(
  reads: Reads,
  { id, person, own: ownId }: Readonly<Record<'id' | 'person' | 'own', string | undefined>>,
): Promise<string> {
  if (person !== undefined) return (await findPerson(reads, person)).id
  if (id === undefined && ownId !== undefined) return ownId
  const session = id === undefined ? null : await reads.identities.session(id)
  if (session) return session.personId
  throw new Failure(
    id === undefined ? 'INVALID_INPUT' : 'NOT_FOUND',
    id === undefined ? 'Pass a session id, or a person.' : `There is no session "${id}".`,
    {
      reason: id === undefined ? 'session_or_person_missing' : 'session_not_found',
      hint: 'waymark session list shows them.',
    },
  )
}

function adminOnlyFailure(name: string): Failure {
  return new Failure('FORBIDDEN', `Only admins can see sessions of other people. ${name} is not an admin.`, {
    reason: 'admin_needed',
  })
}

/** The events that end sessions: all, one, those of a person, or those started with a token. */
export async function endedSessions(
  { identities }: Reads,
  filter: {
    /** Null for the sessions of all people. */
    readonly personId: string | null
    readonly now: number
    readonly only?: string | undefined
    readonly tokenIds?: readonly TokenId[]
  },
): Promise<{ readonly events: readonly NewProjectEvent[]; readonly sideWrites: readonly SideWrite[] }> {
  const person = filter.personId === null ? {} : { personId: filter.personId }
  const sessions = (await identities.sessions({ ...person, now: filter.now })).filter(
    ({ session }) =>
      (filter.only === undefined || session.id === filter.only) &&
      (filter.tokenIds === undefined ||
        (session.tokenId !== null && filter.tokenIds.includes(session.tokenId))),
  )
  return {
    events: sessions.map(({ session, person }) => ({
      kind: 'session.ended',
      sessionId: session.id,
      name: person.name,
    })),
    sideWrites: sessions.map(({ session }) => ({ kind: 'secret ended', of: session.id })),
  }
}

/** A new session, with the stored hash of its cookie. */
export function newSession(
  { at: startedAt, ids }: TransactionContext,
  { person, tokenId, hash, until }: NewSignInSession,
): {
  readonly events: readonly NewProjectEvent[]
  readonly sideWrites: readonly SideWrite[]
  readonly id: string
} {
  const session = {
    id: ids.next('session'),
    personId: person.id,
    tokenId,
    startedAt,
    expiresAt: until,
    endedAt: null,
  }
  return {
    id: session.id,
    events: [{ kind: 'session.began', session, name: person.name }],
    sideWrites: [{ kind: 'secret made', of: session.id, hash }],
  }
}

interface NewSignInSession {
  readonly person: { readonly id: PersonId } & Pick<Person, 'name'>
  readonly tokenId: TokenId | null
  /** Hash of the secret in the cookie. */
  readonly hash: string
  /** When it expires. */
  readonly until: number
}

import type { Actor } from '../../../kernel/actor.ts'
import { type CallerPermissions, lowerAccess } from '../../../people/domain/access.ts'
import {
  isOwnToken,
  type Member,
  membershipOf,
  type Person,
  type SignInSession,
  type Token,
  tokenErrorOf,
} from '../../../people/domain/identity.ts'
import type { Reads } from '../../../store/ports/store.ts'

/** The person behind a token or session, with their permissions in each project. */
export interface Principal {
  readonly person: Person
  readonly token: Token | null
  readonly session: SignInSession | null
  readonly memberships: ReadonlyMap<string, Member>
  /** The hash of the secret. */
  readonly hash: string
  /** The time of the last use; null if never used. */
  readonly usedAt: number | null
  /** The identity of this machine's user, on a single-user server. */
  readonly user: string | null
  /** The same text until something changes. */
  readonly version: string
}

/** Reads the holder of a token or session; null if there is none or its secret is gone. */
export async function readPrincipal(
  { identities }: Reads,
  credential: { readonly token: Token['id'] } | { readonly session: SignInSession['id'] },
  user: string | null = null,
): Promise<Principal | null> {
  const session = 'session' in credential ? await identities.session(credential.session) : null
  const tokenId = 'token' in credential ? credential.token : (session?.tokenId ?? null)
  const token = tokenId === null ? null : await identities.token(tokenId)
  const holder = session ?? token
  if (!holder || ('session' in credential && !session) || (tokenId !== null && !token)) return null
  const person = await identities.person(holder.personId)
  const secret = await identities.secret(holder.id)
  if (!person || !secret) return null
  const memberships = new Map(
    (await identities.memberships(person.id)).map(({ projectId, member }) => [projectId, member]),
  )
  const version = JSON.stringify([person, token, session, [...memberships]])
  return { person, token, session, memberships, ...secret, user, version }
}

/** Whether it is valid now. */
export function isOpen({ person, token, session }: Principal, now: number): boolean {
  if (person.disabledAt !== null || token?.kind === 'invitation') return false
  if (token && tokenErrorOf(token, now) !== null) return false
  return session === null || (session.endedAt === null && session.expiresAt > now)
}

/**
 * The permissions in a project. An agent may only work, whatever the person may. A token for one project opens no other,
 * and a token with a limit never makes an admin.
 */
export function permissionsIn(
  { person, token, session, memberships, user }: Principal,
  projectId: string,
): CallerPermissions {
  const isMachine = token !== null && token.kind !== 'person'
  const isElsewhere = token !== null && token.projectId !== null && token.projectId !== projectId
  const member = membershipOf(person, memberships.get(projectId) ?? null)
  const most = token?.most
  const admin = person.admin && !isMachine && (token?.projectId ?? null) === null && most === undefined
  const own = member?.access ?? null
  const limits = [...(isMachine ? ['contributor' as const] : []), ...(most ? [most] : [])]
  const access = own === null || isElsewhere ? null : limits.reduce(lowerAccess, own)
  return {
    personId: person.id,
    personName: person.name,
    tokenId: token?.id ?? null,
    sessionId: session?.id ?? null,
    access,
    admin,
    ...(most && { most }),
    roles: isMachine ? [] : (member?.roles ?? []),
    expiresAt: session?.expiresAt ?? token?.expiresAt ?? 0,
    ...(user !== null && !isMachine && { user }),
  }
}

/** The actor of their calls. */
export function actorOfPrincipal({
  person,
  token,
  session,
  user = null,
}: Pick<Principal, 'person' | 'token' | 'session'> & Partial<Pick<Principal, 'user'>>): Actor {
  const ids = { person: person.id, ...(token && { token: token.id }) }
  if (token && token.kind !== 'person') {
    const runner = token.kind === 'runner' && { runner: true as const }
    const { id, name, role } = token
    // Every program of the user can read a token that the server made for them.
    const identity = user !== null && isOwnToken(token) ? user : `token:${id}`
    return { name, kind: 'agent', role, channel: 'http', identity, ...ids, ...runner }
  }
  return {
    name: person.name,
    kind: 'person',
    role: token?.role ?? null,
    channel: session ? 'dashboard' : 'http',
    identity: user ?? `person:${person.id}`,
    ...(session && { connection: session.id }),
    ...ids,
  }
}

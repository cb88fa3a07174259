import { z } from 'zod'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { Named, strings } from '../../kernel/operations/list-answer.ts'
import { accesses } from '../domain/access.ts'
import { membershipOf, type Person, tokenErrorOf, tokenKinds } from '../domain/identity.ts'
import type { MemberListing, SignInSessionListing, TokenListing } from '../ports/identity-reads.ts'

const personStates = ['active', 'invited', 'disabled'] as const

export const PersonEntry = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  admin: z.boolean(),
  /** `invited`: has an e-mail address, and never signed in, by single sign-on or with a token. */
  state: z.enum(personStates),
  /** The address of their identity provider. */
  issuer: z.string().nullable(),
  created_at: z.string(),
  disabled_at: z.string().nullable(),
})

export function personEntry(person: Person, tokenUsers: ReadonlySet<string>): z.output<typeof PersonEntry> {
  const { id, name, email, admin, issuer, createdAt, disabledAt } = person
  const [created_at, disabled_at] = [instant(createdAt), instantOrNull(disabledAt)]
  return { id, name, email, admin, state: stateOf(person, tokenUsers), issuer, created_at, disabled_at }
}

function stateOf(
  { id, disabledAt, email, issuer }: Person,
  tokenUsers: ReadonlySet<string>,
): (typeof personStates)[number] {
  if (disabledAt !== null) return 'disabled'
  return email !== null && issuer === null && !tokenUsers.has(id) ? 'invited' : 'active'
}

export const MemberEntry = z.object({
  person: Named,
  email: z.string().nullable(),
  access: z.enum(accesses),
  /** Gate roles. */
  roles: strings,
  state: z.enum(personStates),
  /** An admin of the server, and so an owner of every project. */
  admin: z.boolean(),
})

export function memberEntry(
  { member, person }: MemberListing,
  tokenUsers: ReadonlySet<string>,
): z.output<typeof MemberEntry> {
  const { access, roles } = membershipOf(person, member) ?? member
  return {
    person: { id: person.id, name: person.name },
    email: person.email,
    access,
    roles,
    state: stateOf(person, tokenUsers),
    admin: person.admin,
  }
}

export const TokenEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** `invitation`: does not permit access, and is exchanged for a person’s first token. */
  kind: z.enum([...tokenKinds, 'invitation']),
  person: Named,
  /** The token that it was created with, and is revoked with; null for one created without a token. */
  parent_id: z.string().nullable(),
  /** The only project that it is for; null for all of the person's. */
  project_id: z.string().nullable(),
  role: z.string().nullable(),
  /** The access limit; null if it has none of its own. */
  access: z.enum(accesses).nullable(),
  state: z.enum(['valid', 'expired', 'revoked', 'disabled']),
  created_at: z.string(),
  expires_at: z.string(),
  last_used_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  revoked_by: z.string().nullable(),
})

export function tokenEntry(
  { token, person, usedAt }: TokenListing,
  now: number,
): z.output<typeof TokenEntry> {
  const error = tokenErrorOf(token, now)
  return {
    id: token.id,
    name: token.name,
    kind: token.kind,
    person: { id: person.id, name: person.name },
    parent_id: token.parentId,
    project_id: token.projectId,
    role: token.role,
    access: token.most ?? null,
    state: error ?? (person.disabledAt === null ? 'valid' : 'disabled'),
    created_at: instant(token.createdAt),
    expires_at: instant(token.expiresAt),
    last_used_at: instantOrNull(usedAt),
    revoked_at: instantOrNull(token.revokedAt),
    revoked_by: token.revokedBy,
  }
}

export const SignInSessionEntry = z.object({
  id: z.string(),
  person: Named,
  token_id: z.string().nullable(),
  /** The caller's own session. */
  own: z.boolean(),
  started_at: z.string(),
  expires_at: z.string(),
})

export function signInSessionEntry(
  { session, person }: SignInSessionListing,
  ownSessionId: string | null,
): z.output<typeof SignInSessionEntry> {
  return {
    id: session.id,
    person: { id: person.id, name: person.name },
    token_id: session.tokenId,
    own: session.id === ownSessionId,
    started_at: instant(session.startedAt),
    expires_at: instant(session.expiresAt),
  }
}

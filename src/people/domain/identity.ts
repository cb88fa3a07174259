import type { PersonId, ProjectId, SessionId, TokenId } from '../../kernel/id.ts'
import type { Access } from './access.ts'

/** A person who may use the server. */
export interface Person {
  readonly id: PersonId
  readonly name: string
  /** Lower case. Matches the first single sign-on, while `issuer` and `subject` are unknown. */
  readonly email: string | null
  /** The identity provider and the person's id there; null until the first single sign-on. */
  readonly issuer: string | null
  readonly subject: string | null
  /** May manage projects and people. */
  readonly admin: boolean
  /** Milliseconds since the epoch; null while they may sign in. */
  readonly disabledAt: number | null
  readonly createdAt: number
}

/** A person's access to a project. */
export interface Member {
  readonly personId: PersonId
  readonly access: Access
  /** Gate roles, such as `reviewer`, independent of the access level. */
  readonly roles: readonly string[]
}

/** An admin of the server is an owner of every project, in the gate roles that they were given there. */
export function membershipOf(
  { id, admin }: Pick<Person, 'id' | 'admin'>,
  member: Member | null,
): Member | null {
  return admin ? { personId: id, roles: member?.roles ?? [], access: 'owner' } : member
}

/** `agent` acts for its owner, `person` as that person, `runner` is a machine that submits results. */
export const tokenKinds = ['agent', 'person', 'runner'] as const
/** An `invitation` does not permit access: it is exchanged once for a person's first token. */
export type TokenKind = (typeof tokenKinds)[number] | 'invitation'

/** The public data of a token: its secret is not stored, its hash is stored beside the log. */
export interface Token {
  readonly id: TokenId
  readonly name: string
  readonly kind: TokenKind
  /** The only project that it is for; null for all of the person's. */
  readonly projectId: string | null
  /** The gate role that it acts in. */
  readonly role: string | null
  /** The access limit; absent if there is none. */
  readonly most?: Access
  readonly personId: PersonId
  /** The person who created it; null for one created with direct access to the database. */
  readonly createdBy: PersonId | null
  /** The token that it was created with, as its limit; they are revoked together. Null for one created without a token. */
  readonly parentId: TokenId | null
  readonly createdAt: number
  readonly expiresAt: number
  readonly revokedAt: number | null
  /** The name of the person who revoked it. */
  readonly revokedBy: string | null
}

/** A person's session in a browser. */
export interface SignInSession {
  readonly id: SessionId
  readonly personId: PersonId
  /** The token that started it, and that ends it; null for OpenID Connect. */
  readonly tokenId: TokenId | null
  readonly startedAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
}

/** The later changes of a person. */
export type PersonChanges = Partial<
  Pick<Person, 'name' | 'email' | 'issuer' | 'subject' | 'admin' | 'disabledAt'>
>

/** The reserved project without work, which records events of people, tokens and sessions. */
export const serverProject = 'server'

/** All events of the reserved project: people, tokens, sessions and project names. */
export function isServerEventKind(kind: string): boolean {
  return (
    kind === 'project.created' || /^(?:person|token)\.|^session\.(?:began|ended)$|^project\.named$/.test(kind)
  )
}

/** These events never contain a secret or a hash. */
export type IdentityEvent =
  | {
      readonly kind: 'project.named'
      readonly projectId: ProjectId
      readonly name: string
      /** Null for a new one. */
      readonly before: string | null
    }
  | { readonly kind: 'person.added'; readonly person: Person }
  | {
      readonly kind: 'person.changed'
      readonly personId: PersonId
      readonly name: string
      readonly changes: PersonChanges
    }
  | {
      /** Recorded in the project. The name is the person's, as it was. */
      readonly kind: 'member.set'
      readonly member: Member
      readonly name: string
      readonly before: Access | null
    }
  | { readonly kind: 'member.removed'; readonly personId: PersonId; readonly name: string }
  | { readonly kind: 'token.created'; readonly token: Token; readonly person: string }
  | { readonly kind: 'token.revoked'; readonly tokenId: TokenId; readonly name: string }
  | { readonly kind: 'session.began'; readonly session: SignInSession; readonly name: string }
  | { readonly kind: 'session.ended'; readonly sessionId: SessionId; readonly name: string }

/** Milliseconds. */
export const day = 24 * 60 * 60_000
/** The default and the maximum lifetime of a token, in days. */
export const tokenDays = { usual: 90, most: 365 } as const
/** The lifetime of a sign-in: on a single-user server, and on a team server. */
export const sessionLifetimes = { ofOwner: 30 * day, shared: 12 * 60 * 60_000 } as const

/** Whether a single-user server created it for its own user, whose programs can read it. */
export function isOwnToken({ createdBy, parentId }: Pick<Token, 'createdBy' | 'parentId'>): boolean {
  return createdBy !== null && parentId === null
}

interface TokenParts {
  readonly id: TokenId
  readonly secret: string
}

/** `wm1_<12 characters that name it>_<43 that are secret>`. */
export function writeToken({ id, secret }: TokenParts): string {
  return `wm1_${id.slice(id.indexOf('-') + 1)}_${secret}`
}

/** The parts of a token; null if the text is none. */
export function readToken(text: string): TokenParts | null {
  const [, characters, secret] = /^wm1_([0-9a-z]{12})_([\w-]{43})$/.exec(text) ?? []
  if (characters === undefined || secret === undefined) return null
  return { id: `tk-${characters}` as TokenId, secret } // a brand
}

const invitationPrefix = 'invite-'

/** A token's text with a prefix, so that no server accepts it as a token. */
export function writeInvitation(parts: TokenParts): string {
  return `${invitationPrefix}${writeToken(parts)}`
}

/** The parts of an invitation; null if the text is none. */
export function readInvitation(text: string): TokenParts | null {
  return text.startsWith(invitationPrefix) ? readToken(text.slice(invitationPrefix.length)) : null
}

export type TokenRefusal = 'revoked' | 'expired'

/** Why a token or session is invalid; null if it is valid. */
export function tokenErrorOf(
  { revokedAt, expiresAt }: Pick<Token, 'revokedAt' | 'expiresAt'>,
  now: number,
): TokenRefusal | null {
  if (revokedAt !== null) return 'revoked'
  return expiresAt <= now ? 'expired' : null
}

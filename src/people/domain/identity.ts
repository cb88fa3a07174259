import type { PersonId, ProjectId, SessionId, TokenId } from '../../kernel/id.ts'
import type { Access } from './access.ts'

/** Somebody who may use the server. */
export interface Person {
  readonly id: PersonId
  readonly name: string
  /** Lower case. Who signs in elsewhere is matched by it once, as long as `issuer` and `subject` are not known. */
  readonly email: string | null
  /** Who vouches for them, and what they are called there; null until they signed in by it. */
  readonly issuer: string | null
  readonly subject: string | null
  /** Decides about projects and persons. */
  readonly admin: boolean
  /** Milliseconds since the epoch; null while they may sign in. */
  readonly disabledAt: number | null
  readonly createdAt: number
}

/** What a person may do in a project. */
export interface Member {
  readonly personId: PersonId
  readonly access: Access
  /** Gate roles, such as `reviewer`: apart from what they have access to. */
  readonly roles: readonly string[]
}

/** `agent` acts for the person who has it, `person` as that person, `runner` is a machine that hands in results. */
export const tokenKinds = ['agent', 'person', 'runner'] as const
/** An `invitation` lets nobody in: it is exchanged for a person's first token, once. */
export type TokenKind = (typeof tokenKinds)[number] | 'invitation'

/** A token as everybody may know it: its secret is nowhere, its hash is kept beside the log entries. */
export interface Token {
  readonly id: TokenId
  readonly name: string
  readonly kind: TokenKind
  /** The only project that it is for; null for all of the person's. */
  readonly projectId: string | null
  /** The gate role that it acts in. */
  readonly role: string | null
  /** What it lets at most, whatever its person may; absent where it sets no limit. */
  readonly most?: Access
  readonly personId: PersonId
  /** The person who made it; null for one made by whoever can write the database. */
  readonly createdBy: PersonId | null
  /** The token it was made with: it never permits more and is revoked together with it. Null for one made without a token. */
  readonly parentId: TokenId | null
  readonly createdAt: number
  readonly expiresAt: number
  readonly revokedAt: number | null
  /** Who revoked it, by name. */
  readonly revokedBy: string | null
}

/** Somebody who is signed in with a browser. */
export interface SignInSession {
  readonly id: SessionId
  readonly personId: PersonId
  /** The token by which it was begun, and with which it ends; null for one by OpenID Connect. */
  readonly tokenId: TokenId | null
  readonly startedAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
}

/** What changes of a person after they were added. */
export type PersonChanges = Partial<
  Pick<Person, 'name' | 'email' | 'issuer' | 'subject' | 'admin' | 'disabledAt'>
>

/** A project that no work is planned in: what happens to persons, tokens and sessions is recorded there. */
export const serverProject = 'server'

/** What happens to persons, tokens, sessions and names of projects: all that is ever recorded in the reserved project. */
export function isServerEventKind(kind: string): boolean {
  return (
    kind === 'project.created' || /^(?:person|token)\.|^session\.(?:began|ended)$|^project\.named$/.test(kind)
  )
}

/** No secret and no hash is ever in one of these. */
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
/** How long a token holds unless its maker says otherwise, and at most. */
export const tokenDays = { usual: 90, most: 365 } as const
/** How long somebody stays signed in: where a person uses their own machine, and where people share a server. */
export const sessionLifetimes = { ofOwner: 30 * day, shared: 12 * 60 * 60_000 } as const

/** Whether a single-user server made it for its own user, each of whose programs can read it. */
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

/** The parts of a token; null for what is none. */
export function readToken(text: string): TokenParts | null {
  const [, characters, secret] = /^wm1_([0-9a-z]{12})_([\w-]{43})$/.exec(text) ?? []
  if (characters === undefined || secret === undefined) return null
  return { id: `tk-${characters}` as TokenId, secret } // a brand
}

const invitationPrefix = 'invite-'

/** A token's text with a prefix: no server takes it for a token. */
export function writeInvitation(parts: TokenParts): string {
  return `${invitationPrefix}${writeToken(parts)}`
}

/** The parts of an invitation; null for what is none. */
export function readInvitation(text: string): TokenParts | null {
  return text.startsWith(invitationPrefix) ? readToken(text.slice(invitationPrefix.length)) : null
}

export type TokenRefusal = 'revoked' | 'expired'

/** Why a token or a session lets nobody in any more; null while it does. */
export function tokenErrorOf(
  { revokedAt, expiresAt }: Pick<Token, 'revokedAt' | 'expiresAt'>,
  now: number,
): TokenRefusal | null {
  if (revokedAt !== null) return 'revoked'
  return expiresAt <= now ? 'expired' : null
}

import type { SessionId, TokenId } from '../../kernel/id.ts'
import type { Member, Person, SignInSession, Token } from '../domain/identity.ts'

/** What is kept of a token or a session beside the log entries. */
export interface StoredSecret {
  /** SHA-256, hexadecimal. */
  readonly hash: string
  /** When it was last used, at most a minute off; null where it never was. */
  readonly usedAt: number | null
}

/** A membership as it is listed: with the person, and since when. */
export interface MemberListing {
  readonly member: Member
  readonly person: Person
}

export interface TokenListing {
  readonly token: Token
  readonly person: Person
  readonly usedAt: number | null
}

export interface SignInSessionListing {
  readonly session: SignInSession
  readonly person: Person
}

/** A project of a database as everybody who may see it finds it. */
export interface ProjectListing {
  readonly id: string
  /** As it stands in addresses: lower case, digits and dashes. */
  readonly name: string
  /** Whether people gave it that name; otherwise it is its folder's. */
  readonly named: boolean
  readonly events: number
  /** Open inbox items: what waits for people. */
  readonly waiting: number
  readonly openAttempts: number
  /** When the last log entry was recorded; null where there is none. */
  readonly lastEventAt: number | null
}

/** Members are those of the project that is asked about; persons, tokens and sessions are the whole server's. */
export interface IdentityReads {
  /** The id of the project that is asked about; empty where nothing was recorded in it. */
  readonly project: string
  /** Every project of the database but the reserved one, in the order of their names; at most 1000. */
  projects(): Promise<readonly ProjectListing[]>
  person(id: string): Promise<Person | null>
  /** Who has this id, this e-mail address or this name; at most 10. */
  peopleNamed(words: string): Promise<readonly Person[]>
  personOf(issuer: string, subject: string): Promise<Person | null>
  /** Oldest first, at most 1000. */
  people(): Promise<readonly Person[]>
  /** How many admins there are that are not disabled. */
  admins(): Promise<number>
  /** Oldest first, at most 1000. */
  members(): Promise<readonly MemberListing[]>
  member(personId: string): Promise<Member | null>
  /** How many owners the project has that are not disabled. */
  owners(): Promise<number>
  /** In which projects a person is what; at most 1000. */
  memberships(personId: string): Promise<readonly { readonly projectId: string; readonly member: Member }[]>
  token(id: string): Promise<Token | null>
  /** The valid tokens that were made with these, directly or through others. */
  tokensMadeWith(ids: readonly string[]): Promise<readonly Token[]>
  /** The valid tokens that a person made for other people. */
  tokensMadeForOthers(personId: string): Promise<readonly Token[]>
  /** Tokens that are not revoked, of one person or of all, newest first; at most 1000. */
  tokens(of: { readonly personId?: string; readonly revoked?: boolean }): Promise<readonly TokenListing[]>
  session(id: string): Promise<SignInSession | null>
  /** Sessions that neither ended nor are too old, newest first; at most 1000. */
  sessions(of: { readonly personId?: string; readonly now: number }): Promise<readonly SignInSessionListing[]>
  /** Null for what was revoked or ended, or came without its secret, as from an export. */
  secret(of: TokenId | SessionId): Promise<StoredSecret | null>
}

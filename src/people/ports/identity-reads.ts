import type { SessionId, TokenId } from '../../kernel/id.ts'
import type { Member, Person, SignInSession, Token } from '../domain/identity.ts'

/** The stored secret of a token or a session, beside the log. */
export interface StoredSecret {
  /** SHA-256, hexadecimal. */
  readonly hash: string
  /** When it was last used, to the minute; null if never. */
  readonly usedAt: number | null
}

/** A listed membership, with the person. */
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

/** A project of a database, as anyone who may see it finds it. */
export interface ProjectListing {
  readonly id: string
  /** The project's name in addresses: lower case, digits and dashes. */
  readonly name: string
  /** Whether people gave it that name; otherwise it is its folder's. */
  readonly named: boolean
  readonly events: number
  /** The number of open inbox items. */
  readonly waiting: number
  readonly openAttempts: number
  /** When the last log entry was recorded; null if there is none. */
  readonly lastEventAt: number | null
}

/** Members are those of the current project; people, tokens and sessions are those of the whole server. */
export interface IdentityReads {
  /** The id of the current project; empty if nothing was recorded in it. */
  readonly project: string
  /** Every project of the database but the reserved one, in the order of their names; at most 1000. */
  projects(): Promise<readonly ProjectListing[]>
  person(id: string): Promise<Person | null>
  /** The people with this id, e-mail address or name; at most 10. */
  peopleNamed(words: string): Promise<readonly Person[]>
  personOf(issuer: string, subject: string): Promise<Person | null>
  /** Oldest first, at most 1000. */
  people(): Promise<readonly Person[]>
  /** The number of admins that are not disabled. */
  admins(): Promise<number>
  /** Oldest first, at most 1000; then the admins of the server who are no others. */
  members(): Promise<readonly MemberListing[]>
  member(personId: string): Promise<Member | null>
  /** The number of owners of the project that are not disabled. */
  owners(): Promise<number>
  /** In which projects a person is what; at most 1000. */
  memberships(personId: string): Promise<readonly { readonly projectId: string; readonly member: Member }[]>
  token(id: string): Promise<Token | null>
  /** The valid tokens that were created with these, directly or indirectly. */
  tokensMadeWith(ids: readonly string[]): Promise<readonly Token[]>
  /** The valid tokens that a person created for other people. */
  tokensMadeForOthers(personId: string): Promise<readonly Token[]>
  /** Tokens that are not revoked, of one person or of all, newest first; at most 1000. */
  tokens(of: { readonly personId?: string; readonly revoked?: boolean }): Promise<readonly TokenListing[]>
  /** The ids of the people who signed in with a token of their own; at most 1000. */
  tokenUsers(): Promise<ReadonlySet<string>>
  session(id: string): Promise<SignInSession | null>
  /** Sessions that neither ended nor are too old, newest first; at most 1000. */
  sessions(of: { readonly personId?: string; readonly now: number }): Promise<readonly SignInSessionListing[]>
  /** Null for revoked or ended ones, and after an import without secrets. */
  secret(of: TokenId | SessionId): Promise<StoredSecret | null>
}

import type { Store, StoreReader } from '../../store/ports/store.ts'

/** The people of a server: in its shared database, else in the machine's state folder. */
export interface Team {
  /** The reserved project of people, tokens and sessions. */
  readonly store: Store
  /** The user of this machine, on a single-user server. Null on a team server. */
  readonly owner: MachineOwner | null
  /** 32 random bytes, in base64url. */
  newSecret(): string
  /** SHA-256, hexadecimal. */
  hashOf(secret: string): string
}

/** The one person of a single-user server, and the tokens by which programs of this user are configured. */
export interface MachineOwner {
  /** As the command line of this user acts. */
  readonly identity: string
  /** The current name. */
  name(): string
  /** The token of a kind, from a file that only this user can read; null if there is none. */
  readToken(kind: OwnTokenKind): string | null
  keepToken(kind: OwnTokenKind, text: string): void
}

export type OwnTokenKind = 'agent' | 'person'

/** The part that a query may use. */
export interface TeamReader extends Pick<Team, 'owner'> {
  readonly store: StoreReader
}

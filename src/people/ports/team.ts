import type { Store, StoreReader } from '../../store/ports/store.ts'

/** Who may use a server is kept in the database that it was given, for all its projects. */
export interface Team {
  /** The reserved project of persons, tokens and sessions. */
  readonly store: Store
  /** 32 random bytes, in base64url. */
  newSecret(): string
  /** SHA-256, hexadecimal. */
  hashOf(secret: string): string
}

/** What a query may ask of it. */
export interface TeamReader {
  readonly store: StoreReader
}

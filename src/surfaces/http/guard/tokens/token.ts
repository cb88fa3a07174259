import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A token as it is kept: what it lets one do, and its hash. The token itself is known only to who uses it. */
export interface TokenEntry {
  /** Who acts with it; unique. */
  readonly name: string
  readonly kind: 'agent' | 'person'
  readonly role: string | null
  /** SHA-256, hexadecimal. */
  readonly hash: string
  /** Made by a person with `waymark token add`, not by the server for itself. */
  readonly explicit: boolean
  /** ISO 8601. */
  readonly created: string
}

/** 32 random bytes: nobody guesses it, so that a plain hash keeps it. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** The entry whose hash it is. Every entry is compared, in constant time. */
export function entryOf<Entry extends { readonly hash: string }>(
  secret: string,
  entries: readonly Entry[],
): Entry | null {
  const hash = Buffer.from(hashOf(secret))
  let found: Entry | null = null
  for (const entry of entries) {
    const kept = Buffer.from(entry.hash)
    if (kept.length === hash.length && timingSafeEqual(kept, hash)) found = entry
  }
  return found
}

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 32 random bytes: no one can guess it, so a plain hash is safe. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Whether a hash is that of a secret, in constant time. */
export function isHashOf(hash: string, secret: string): boolean {
  const [kept, given] = [Buffer.from(hash), Buffer.from(secretHash(secret))]
  return kept.length === given.length && timingSafeEqual(kept, given)
}

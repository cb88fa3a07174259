import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { hashOf, newSecret } from './secret.ts'
import type { TokenEntry } from './tokens.ts'

/**
 * How the holder of a token and a server show each other that they know it, without sending it: each answers a number
 * of the other one with an HMAC under the hash of the token. It counts for one port and one run of a server, so that who
 * took a port over can neither answer nor pass the question on.
 */
export interface LoginProofExchange {
  readonly port: number
  readonly instance: string
  /** Chosen by who asks. */
  readonly asked: string
  /** Chosen by the server. */
  readonly answered: string
}

export type ProofSide = 'server' | 'client'

/** What one side shows the other. `hash` is that of the token. */
export function proofOf(
  side: ProofSide,
  { port, instance, asked, answered }: LoginProofExchange,
  hash: string,
): string {
  const words = JSON.stringify(['waymark login', side, port, instance, asked, answered])
  return createHmac('sha256', hash).update(words).digest('base64url')
}

export function isProof(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** Names a token without telling anything that opens it. */
export function keyIdOf(hash: string): string {
  return createHash('sha256').update(`waymark key ${hash}`).digest('hex').slice(0, 16)
}

const proofLifetime = 30_000
const most = 100

/** The questions of a server that are still open, each for one answer within half a minute. */
export class LoginProofs {
  readonly #open = new Map<
    string,
    { readonly meeting: LoginProofExchange; readonly entry: TokenEntry; readonly expires: number }
  >()

  /** Begins a meeting with the holder of a token. */
  begin(meeting: Omit<LoginProofExchange, 'answered'>, entry: TokenEntry, now: number): LoginProofExchange {
    const begun = { ...meeting, answered: newSecret() }
    const [oldest] = this.#open.keys()
    if (this.#open.size >= most && oldest !== undefined) this.#open.delete(oldest)
    this.#open.set(begun.answered, { meeting: begun, entry, expires: now + proofLifetime })
    return begun
  }

  /** The token that was shown to be known; null for a proof that is wrong, late or used. */
  take(answered: string, proof: string, now: number): TokenEntry | null {
    const found = this.#open.get(answered)
    this.#open.delete(answered)
    if (!found || found.expires <= now) return null
    return isProof(proof, proofOf('client', found.meeting, found.entry.hash)) ? found.entry : null
  }
}

const codeLifetime = 10 * 60_000

/** Codes that log a person in, each once and within ten minutes. */
export class LoginCodes {
  readonly #codes = new Map<string, { readonly token: string; readonly expires: number }>()

  /** A code that logs in as the holder of a token, which is named by its hash. */
  make(token: string, now: number): string {
    const code = newSecret()
    const [oldest] = this.#codes.keys()
    if (this.#codes.size >= most && oldest !== undefined) this.#codes.delete(oldest)
    this.#codes.set(hashOf(code), { token, expires: now + codeLifetime })
    return code
  }

  /** The hash of the token that a code stands for, once; null for one that is unknown, used or too old. */
  take(code: string, now: number): string | null {
    const hash = hashOf(code)
    const found = this.#codes.get(hash)
    this.#codes.delete(hash)
    return found && found.expires > now ? found.token : null
  }
}

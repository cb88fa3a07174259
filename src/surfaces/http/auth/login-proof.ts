import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { TokenId } from '../../../kernel/id.ts'
import { isLeaseRunning } from '../../../kernel/lease.ts'
import { setNewest } from '../../../kernel/limited-map.ts'
import { newSecret, secretHash } from './secret.ts'

/**
 * Mutual proof between a server and a program of its user. Each answers the other's challenge with an HMAC. The key is the
 * secret of the server's run, in a file that only this user can read; it is never sent. A proof is bound to one port, so a
 * process that took over a port can neither answer nor relay it.
 */
export interface LoginProofExchange {
  readonly port: number
  /** The caller's challenge. */
  readonly asked: string
  /** The server's challenge. */
  readonly answered: string
}

export type ProofSide = 'server' | 'client'

/** The proof of one side. `instance` is the secret of the server's run. */
export function proofOf(
  side: ProofSide,
  { port, asked, answered }: LoginProofExchange,
  instance: string,
): string {
  const words = JSON.stringify(['waymark login', side, port, asked, answered])
  return createHmac('sha256', instance).update(words).digest('base64url')
}

export function isProof(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** Identifies the run of a server without its secret. */
export function keyIdOf(instance: string): string {
  return createHash('sha256').update(`waymark key ${instance}`).digest('hex').slice(0, 16)
}

const proofLifetime = 30_000
const maxEntries = 100

/** The open challenges of a server, each for one answer within half a minute. */
export class LoginProofs {
  readonly #open = new Map<string, { readonly meeting: LoginProofExchange; readonly expires: number }>()

  /** Begins an exchange with a program that has the secret. */
  begin(meeting: Omit<LoginProofExchange, 'answered'>, now: number): LoginProofExchange {
    const exchange = { ...meeting, answered: newSecret() }
    setNewest(this.#open, maxEntries, exchange.answered, { meeting: exchange, expires: now + proofLifetime })
    return exchange
  }

  /** Whether a proof is right, in time and unused. */
  take(
    { answered, proof }: { readonly answered: string; readonly proof: string },
    instance: string,
    now: number,
  ): boolean {
    const found = this.#open.get(answered)
    this.#open.delete(answered)
    if (!found || !isLeaseRunning(found.expires, { now, length: proofLifetime })) return false
    return isProof(proof, proofOf('client', found.meeting, instance))
  }
}

const codeLifetime = 10 * 60_000

/** Sign-in codes, each valid once within ten minutes. */
export class LoginCodes {
  readonly #codes = new Map<string, { readonly token: TokenId; readonly expires: number }>()

  /** Makes a code for the holder of a token. */
  make(token: TokenId, now: number): string {
    const code = newSecret()
    setNewest(this.#codes, maxEntries, secretHash(code), { token, expires: now + codeLifetime })
    return code
  }

  /** Redeems a code for its token; null if it is unknown, used or expired. */
  take(code: string, now: number): TokenId | null {
    const hash = secretHash(code)
    const found = this.#codes.get(hash)
    this.#codes.delete(hash)
    return found && isLeaseRunning(found.expires, { now, length: codeLifetime }) ? found.token : null
  }
}

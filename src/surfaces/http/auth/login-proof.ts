import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { TokenId } from '../../../kernel/id.ts'
import { isLeaseRunning } from '../../../kernel/lease.ts'
import { setNewest } from '../../../kernel/limited-map.ts'
import { hashOf, newSecret } from './secret.ts'

/**
 * How a server and a program of the user who started it show each other that they are that: each answers a number of the
 * other one with an HMAC under the name of the server's run, which is kept in a file that only this user reads and is never
 * sent. It counts for one port, so that who took a port over can neither answer nor pass the question on.
 */
export interface LoginProofExchange {
  readonly port: number
  /** Chosen by who asks. */
  readonly asked: string
  /** Chosen by the server. */
  readonly answered: string
}

export type ProofSide = 'server' | 'client'

/** What one side shows the other. `instance` names the run of the server. */
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

/** Names the run of a server without telling what it is called. */
export function keyIdOf(instance: string): string {
  return createHash('sha256').update(`waymark key ${instance}`).digest('hex').slice(0, 16)
}

const proofLifetime = 30_000
const most = 100

/** The questions of a server that are still open, each for one answer within half a minute. */
export class LoginProofs {
  readonly #open = new Map<string, { readonly meeting: LoginProofExchange; readonly expires: number }>()

  /** Begins a meeting with whoever knows which run of a server this is. */
  begin(meeting: Omit<LoginProofExchange, 'answered'>, now: number): LoginProofExchange {
    const begun = { ...meeting, answered: newSecret() }
    setNewest(this.#open, most, begun.answered, { meeting: begun, expires: now + proofLifetime })
    return begun
  }

  /** Whether the run was shown to be known; not by a proof that is wrong, late or used. */
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

/** Codes that sign a person in, each once and within ten minutes. */
export class LoginCodes {
  readonly #codes = new Map<string, { readonly token: TokenId; readonly expires: number }>()

  /** A code that signs in the holder of a token. */
  make(token: TokenId, now: number): string {
    const code = newSecret()
    setNewest(this.#codes, most, hashOf(code), { token, expires: now + codeLifetime })
    return code
  }

  /** The token that a code stands for, once; null for one that is unknown, used or too old. */
  take(code: string, now: number): TokenId | null {
    const hash = hashOf(code)
    const found = this.#codes.get(hash)
    this.#codes.delete(hash)
    return found && isLeaseRunning(found.expires, { now, length: codeLifetime }) ? found.token : null
  }
}

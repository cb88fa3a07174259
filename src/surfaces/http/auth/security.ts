import type { Actor, Channel } from '../../../kernel/actor.ts'
import type { PeopleDirectory } from './directory.ts'
import type { LoginCodes, LoginProofs } from './login-proof.ts'
import type { OidcSignIn } from './oidc.ts'
import type { OpenStreams } from './open-streams.ts'
import type { AllowedHosts } from './origin.ts'
import type { ConnectionPorts } from './request-info.ts'

/** What letting somebody in depends on. */
export interface Security {
  /** Asked at each request: the port is known once the server listens. */
  readonly hosts: () => AllowedHosts
  /** Who may use the server. */
  readonly directory: PeopleDirectory
  /** Who vouches for persons who sign in elsewhere; null where nobody does. */
  readonly oidc: OidcSignIn | null
  /** A proxy in front says who asks and whether by TLS: `--trust-proxy`. */
  readonly trustProxy: boolean
  readonly codes: LoginCodes
  readonly proofs: LoginProofs
  readonly streams: OpenStreams
  readonly rates: Rates
  /** Who acts by way of a connection from inside a guard's command, whatever token it has; null for any other. */
  readonly insideCommand: (connection: ConnectionPorts, channel: Channel) => Promise<Actor | null>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface Rates {
  /** Of requests, for each client and token. */
  readonly requests: TokenBuckets
  /** Of tokens and codes that are wrong, for each client. */
  readonly mistakes: TokenBuckets
}

const requestRate: Rate = { burst: 600, perSecond: 300 }
const mistakeRate: Rate = { burst: 10, perSecond: 10 / 60 }

export function usualRates(): Rates {
  return { requests: new TokenBuckets(requestRate), mistakes: new TokenBuckets(mistakeRate) }
}

const teamRate: Rate = { burst: 200, perSecond: 50 }

/** Where many persons share a server: for each token or session. */
export function teamRates(): Rates {
  return { requests: new TokenBuckets(teamRate), mistakes: new TokenBuckets(mistakeRate) }
}

/** How often something may happen: so many at once, and so many again per second. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

interface Bucket {
  left: number
  at: number
}

const most = 10_000

/** Counts what each of many callers does. */
export class TokenBuckets {
  readonly #rate: Rate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** Takes one. Answers 0, or after how many seconds there will be one again. */
  take(key: string, now: number): number {
    const { burst, perSecond } = this.#rate
    const known = this.#buckets.get(key)
    const left = known ? Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond) : burst
    const waits = left < 1 ? Math.max(1, Math.ceil((1 - left) / perSecond)) : 0
    this.#buckets.set(key, { left: waits === 0 ? left - 1 : left, at: now })
    if (this.#buckets.size > most) this.#forget(now)
    return waits
  }

  /** Whoever is full again is as good as new. */
  #forget(now: number): void {
    const { burst, perSecond } = this.#rate
    for (const [key, { left, at }] of this.#buckets) {
      if (left + ((now - at) / 1000) * perSecond >= burst) this.#buckets.delete(key)
    }
  }
}

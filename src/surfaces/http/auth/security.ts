import type { Actor, Channel } from '../../../kernel/actor.ts'
import type { PeopleDirectory } from './directory.ts'
import type { LoginCodes, LoginProofs } from './login-proof.ts'
import type { OidcSignIn } from './oidc.ts'
import type { OpenStreams } from './open-streams.ts'
import type { AllowedHosts } from './origin.ts'
import type { ConnectionPorts } from './request-info.ts'

/** The parts that authentication needs. */
export interface Security {
  /** Called at each request: the port exists once the server listens. */
  readonly hosts: () => AllowedHosts
  /** The people with access. */
  readonly directory: PeopleDirectory
  /** The OIDC provider; null without one. */
  readonly oidc: OidcSignIn | null
  /** A proxy in front reports the client's address and whether it uses TLS: `--trust-proxy`. */
  readonly trustProxy: boolean
  readonly codes: LoginCodes
  readonly proofs: LoginProofs
  readonly streams: OpenStreams
  readonly rates: Rates
  /** The actor of a connection from inside a guard's command, whatever its token; null for others. */
  readonly insideCommand: (connection: ConnectionPorts, channel: Channel) => Promise<Actor | null>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface Rates {
  /** The limit of requests for each client and token. */
  readonly requests: TokenBuckets
  /** The limit of wrong tokens and codes for each client. */
  readonly mistakes: TokenBuckets
}

const requestRate: Rate = { burst: 600, perSecond: 300 }
const mistakeRate: Rate = { burst: 10, perSecond: 10 / 60 }

export function usualRates(): Rates {
  return { requests: new TokenBuckets(requestRate), mistakes: new TokenBuckets(mistakeRate) }
}

const teamRate: Rate = { burst: 200, perSecond: 50 }

/** The limit for each token or session on a shared server. */
export function teamRates(): Rates {
  return { requests: new TokenBuckets(teamRate), mistakes: new TokenBuckets(mistakeRate) }
}

/** A token bucket: a burst, and a refill per second. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

interface Bucket {
  left: number
  at: number
}

const maxBuckets = 10_000

/** A token bucket for each of many callers. */
export class TokenBuckets {
  readonly #rate: Rate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** Takes one token. Returns 0, or the seconds until there is one again. */
  take(key: string, now: number): number {
    const { burst, perSecond } = this.#rate
    const bucket = this.#buckets.get(key)
    const left = bucket ? Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond) : burst
    const waits = left < 1 ? Math.max(1, Math.ceil((1 - left) / perSecond)) : 0
    this.#buckets.set(key, { left: waits === 0 ? left - 1 : left, at: now })
    if (this.#buckets.size > maxBuckets) this.#forget(now)
    return waits
  }

  /** Removes full buckets. */
  #forget(now: number): void {
    const { burst, perSecond } = this.#rate
    for (const [key, { left, at }] of this.#buckets) {
      if (left + ((now - at) / 1000) * perSecond >= burst) this.#buckets.delete(key)
    }
  }
}

import type { Actor, Channel } from '../../../domain/actor.ts'
import type { Hosts } from './hosts.ts'
import type { Connection } from './knock.ts'
import type { LoginCodes } from './login-codes.ts'
import type { LoginProofs } from './login-proof.ts'
import type { OpenStreams } from './open-streams.ts'
import type { Sessions } from './sessions.ts'
import { type Rate, TokenBuckets } from './token-buckets.ts'
import type { TokenFile } from './tokens/token-file.ts'

/** What letting somebody in depends on. */
export interface Security {
  /** Asked at each request: the port is known once the server listens. */
  readonly hosts: () => Hosts
  readonly tokens: TokenFile
  readonly sessions: Sessions
  readonly codes: LoginCodes
  readonly proofs: LoginProofs
  readonly streams: OpenStreams
  readonly rates: Rates
  /** Who acts by way of a connection from inside a guard's command, whatever token it has; null for any other. */
  readonly insideCommand: (connection: Connection, channel: Channel) => Actor | null
  /** Whose machine's user the server runs as: the tokens that it makes for itself are theirs. */
  readonly user: string
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

/** The largest body of a request, in bytes. */
export const largestBody = 1_000_000

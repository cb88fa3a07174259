/** What the live feed holds its readers to. Times are in milliseconds, sizes in bytes. */
export interface LiveLimits {
  readonly readers: number
  /** What may wait for one reader; beyond it nothing more is sent until it has read. */
  readonly waiting: number
  /** How long a reader may take to read what waits for it. */
  readonly drain: number
  /** Between two pings; who did not answer the one before is gone. */
  readonly ping: number
  /** How many facts behind a reader may come back; further behind, reading the project anew is cheaper. */
  readonly behind: number
}

export const liveLimits: LiveLimits = {
  readers: 1_000,
  waiting: 1_000_000,
  drain: 60_000,
  ping: 25_000,
  behind: 10_000,
}

/** Close codes of our own, from the range that is free for it. */
export const closeCodes = {
  badSince: 4400,
  /** The token was removed, or the login ended. */
  revoked: 4401,
  slow: 4408,
  reload: 4409,
  /** The server ends, of RFC 6455. */
  goingAway: 1001,
  /** Come back later: too many readers, or the database cannot be read. */
  later: 1013,
} as const

import { errorCode, Failure, messageOf } from '../../kernel/failure.ts'

/** The connection broke during the commit: only the database knows whether it succeeded. */
export class CommitOutcomeUnknown extends Error {}

/** How to retry after a database error: at once, after a lock, over a new connection, or not at all. */
export type RetryDecision = 'again' | 'locked' | 'reconnect' | 'refused'

/** No connection could be established. */
export class ConnectionUnavailable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause })
  }
}

export function errorReaction(error: unknown): RetryDecision {
  const code = codeOf(error)
  if (code === null) return isConnectionError(error) ? 'reconnect' : 'refused'
  if (/^(40001|40P01)$/.test(code)) return 'again'
  if (code === '55P03') return 'locked'
  // 26000, 42P05: a pooler dropped the statements. 0A000: a statement was prepared before the schema changed.
  if (/^(08...|57P0[1-5]|25P03|25P04|53300|25006|26000|42P05|0A000)$/.test(code)) return 'reconnect'
  if (/^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/.test(code)) return 'reconnect'
  return 'refused'
}

/** Whether the connection is unusable after this error. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof CommitOutcomeUnknown || errorReaction(error) === 'reconnect'
}

/** Whether a pooler switched to a connection without the prepared statements. */
export function isAboutStatements(error: unknown): boolean {
  return /^(26000|42P05)$/.test(codeOf(error) ?? '')
}

function codeOf(error: unknown): string | null {
  return errorCode(
    error instanceof ConnectionUnavailable || error instanceof CommitOutcomeUnknown ? error.cause : error,
  )
}

// The driver's own messages have no code.
function isConnectionError(error: unknown): boolean {
  if (error instanceof CommitOutcomeUnknown) return true
  const message = messageOf(error)
  if (error instanceof ConnectionUnavailable) return /timeout|terminated|closed/i.test(message)
  return /^Connection terminated|not queryable|^Client was closed|^Connection ended/i.test(message)
}

interface PostgresErrorText {
  readonly matches: RegExp
  readonly describe: (database: string, message: string) => string
  readonly hint: string
  readonly reason: string
}

const causes: readonly PostgresErrorText[] = [
  {
    matches: /^55P03$/,
    reason: 'database_locked',
    describe: (database) =>
      `Another session kept this project locked for 10 seconds in ${database}, which is busy; nothing was recorded.`,
    hint: 'Call again. If it stays locked, find the session that holds it in pg_stat_activity and end it.',
  },
  {
    matches: /^(57014|25P04)$/,
    reason: 'database_timeout',
    describe: (database) =>
      `The database ${database} took longer than 15 seconds for one statement; nothing was recorded.`,
    hint: 'Call again. If it stays slow, look at its load and at pg_stat_activity.',
  },
  {
    matches: /^(53100|53400|58030)$/,
    reason: 'disk_full',
    describe: (database) =>
      `The disk of the database ${database} is full or read-only; nothing was recorded.`,
    hint: 'Free some space on the database server, then make the same call again.',
  },
  {
    matches: /^53200$/,
    reason: 'out_of_memory',
    describe: (database) => `The database ${database} is out of memory; nothing was recorded.`,
    hint: 'Call again, and give the database server more memory or fewer connections.',
  },
  {
    matches: /^28/,
    reason: 'database_login_refused',
    describe: (database) => `The database ${database} refused the user or the password.`,
    hint: 'Correct them in WAYMARK_DATABASE.',
  },
  {
    matches: /^3D000$/,
    reason: 'database_not_found',
    describe: (database) => `There is no such database: ${database}.`,
    hint: 'Create it with `createdb`, or choose another with WAYMARK_DATABASE.',
  },
  {
    matches: /^(42501|3F000)$/,
    reason: 'database_permission_denied',
    describe: (database, message) => `The user of the database ${database} lacks a permission: ${message}.`,
    hint: 'Make it the owner, or grant it `create` on the schema and all rights on the tables.',
  },
  {
    matches: /^(40001|40P01)$/,
    reason: 'database_busy',
    describe: (database) =>
      `The database ${database} refused this six times because of concurrent writes; nothing was recorded.`,
    hint: 'Call again.',
  },
  {
    matches: /^53300$/,
    reason: 'too_many_connections',
    describe: (database) =>
      `The database ${database} accepted no connection for 10 seconds; nothing was recorded.`,
    hint: 'Raise its max_connections, or lower ?pool= in the URL of every server: `waymark doctor` compares them.',
  },
  {
    matches: /^25006$/,
    reason: 'database_read_only',
    describe: (database) =>
      `The database ${database} is read-only: a standby, or a primary that was replaced. Nothing was recorded.`,
    hint: 'Point WAYMARK_DATABASE to the primary, for example with target_session_attrs or a load balancer.',
  },
  {
    matches: /^(42P01|42703|22021|XX00[012]|UNREADABLE_ROW)$/,
    reason: 'database_damaged',
    describe: (database, message) => `The database ${database} was changed outside Waymark: ${message}.`,
    hint: 'Run `waymark doctor` to see what is wrong. pg_restore restores a backup.',
  },
]

/** Turns a database error into a failure with a hint. Other errors are returned unchanged. */
export function serverUnavailable(error: unknown, database: string): unknown {
  if (error instanceof Failure) return error
  const code = codeOf(error)
  const cause = causes.find(({ matches }) => matches.test(code ?? ''))
  if (cause) {
    return new Failure('UNAVAILABLE', cause.describe(database, messageOf(error)), {
      reason: cause.reason,
      hint: cause.hint,
      cause: error,
    })
  }
  if (error instanceof CommitOutcomeUnknown) {
    return new Failure(
      'UNAVAILABLE',
      `The connection to ${database} broke during the write, and the database did not answer for 10 seconds. The call may be recorded.`,
      {
        reason: 'commit_unknown',
        hint: 'Repeat the call with the same idempotency key to record it once.',
        cause: error,
      },
    )
  }
  if (!(error instanceof ConnectionUnavailable) && errorReaction(error) !== 'reconnect') return error
  return new Failure(
    'UNAVAILABLE',
    `The database ${database} cannot be reached: ${messageOf(error) || code}. Nothing was recorded.`,
    {
      reason: 'database_unreachable',
      hint: 'Check that it runs and that WAYMARK_DATABASE is correct, then make the same call again.',
      cause: error,
    },
  )
}

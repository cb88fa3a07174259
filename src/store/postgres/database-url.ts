import type { ClientConfig } from 'pg'
import { Failure } from '../../kernel/failure.ts'
import { assertExactNumber } from '../exact-number.ts'

/** The location of a database on a server, and how to query it. */
export interface PostgresLocation {
  /** The URL for the driver, without Waymark's own parameters. */
  readonly url: string
  /** The URL without user, password and parameters, for messages. */
  readonly label: string
  /** The maximum of connections of this process, without the listening one. */
  readonly pool: number
  /** Whether statements are prepared on a connection, so that the server plans them once. */
  readonly prepares: boolean
  /** Another URL for LISTEN, if `url` leads to a pooler; null to use `url`. */
  readonly listen: string | null
}

const usualPool = 10

/** Parses `postgres://…?pool=10&prepare=false`. Its failures never contain the password. */
export function postgresPlace(url: string, listen: string | null = null): PostgresLocation {
  const read = parsedUrl(url, 'WAYMARK_DATABASE')
  const pool = read.searchParams.get('pool')
  const prepare = read.searchParams.get('prepare')
  for (const name of ['pool', 'prepare']) read.searchParams.delete(name)
  if (pool !== null && !/^[1-9]\d{0,2}$/.test(pool)) {
    throw new Failure(
      'INVALID_INPUT',
      `The database's URL says pool=${pool}, which is no number of connections.`,
      { reason: 'database_url_invalid', hint: 'Write a number from 1 to 999, such as ?pool=10.' },
    )
  }
  if (prepare !== null && prepare !== 'true' && prepare !== 'false') {
    throw new Failure('INVALID_INPUT', `The database's URL says prepare=${prepare}.`, {
      reason: 'database_url_invalid',
      hint: 'Write prepare=false for a pooler that keeps no prepared statements, or leave it out.',
    })
  }
  return {
    url: read.href,
    label: publicUrl(read),
    pool: pool === null ? usualPool : Number(pool),
    prepares: prepare !== 'false',
    listen: listen === null ? null : parsedUrl(listen, 'WAYMARK_DATABASE_LISTEN').href,
  }
}

/** Whether a database name is a PostgreSQL URL. */
export function isPostgresUrl(named: string): boolean {
  return /^postgres(ql)?:\/\//i.test(named)
}

function parsedUrl(url: string, variable: string): URL {
  const read = isPostgresUrl(url) ? URL.parse(url) : null
  // The invalid URL is not shown: it may contain a password.
  if (read) return read
  throw new Failure('INVALID_INPUT', `${variable} is not a URL of PostgreSQL that can be read.`, {
    reason: 'database_url_invalid',
    hint: 'Write postgres://user:password@host:5432/database, with special characters of the password percent-encoded.',
  })
}

function publicUrl({ host, pathname, searchParams }: URL): string {
  return `postgres://${host || (searchParams.get('host') ?? 'localhost')}${pathname}`
}

/** The settings of every connection. */
export function clientConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: 'waymark',
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    types: { getTypeParser: (oid, format) => parserOf(Number(oid), format) },
  }
}

const bool = 16
const int8 = 20
const int2 = 21
const int4 = 23
const float4 = 700
const float8 = 701
const numeric = 1700
const numbers: ReadonlySet<number> = new Set([int8, int2, int4, float4, float8, numeric])

/** As SQLite returns them: numbers as numbers, booleans as 0 or 1, the rest as text. */
function parserOf(oid: number, format: string | undefined): (text: string) => unknown {
  if (format === 'binary') throw new Error('nothing is asked for in binary')
  if (oid === bool) return parseBoolean
  return numbers.has(oid) ? parseNumber : identityText
}

// One parser per type, shared by all columns: the driver requests them for each column.
const parseBoolean = (text: string): number => (text === 't' ? 1 : 0)
const parseNumber = (text: string): number => assertExactNumber(Number(text), text)
const identityText = (text: string): string => text

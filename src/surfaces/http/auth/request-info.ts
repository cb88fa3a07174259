import type { IncomingMessage } from 'node:http'
import type { Actor } from '../../../kernel/actor.ts'
import type { Principal } from './principal.ts'

/** The properties of a request or upgrade that authentication needs. */
export interface RequestInfo {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly host: string | undefined
  /** The number of Host headers. Node returns only the first one. */
  readonly hosts: number
  readonly origin: string | undefined
  /** The browser's `Sec-Fetch-Site` and `Sec-Fetch-Mode`. */
  readonly site: string | undefined
  readonly mode: string | undefined
  readonly authorization: string | undefined
  readonly cookie: string | undefined
  readonly csrf: string | undefined
  /** The address of the client; behind a trusted proxy, the forwarded one. */
  readonly from: string
  /** Whether the client used TLS to a proxy in front. */
  readonly secure: boolean
  readonly connection: ConnectionPorts
}

/** The ports of both ends, to find the calling process on this machine. */
export interface ConnectionPorts {
  readonly localPort?: number | undefined
  readonly remotePort?: number | undefined
}

export function requestInfoOf(
  { method = 'GET', url = '', headers, rawHeaders, socket }: IncomingMessage,
  { trustProxy }: { readonly trustProxy: boolean },
): RequestInfo {
  const forwardedValue = (name: string) => (trustProxy ? lastHeaderValue(headers[name]) : undefined)
  return {
    method,
    target: url,
    host: headers.host,
    hosts: rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length,
    origin: headers.origin,
    site: singleHeaderValue(headers['sec-fetch-site']),
    mode: singleHeaderValue(headers['sec-fetch-mode']),
    authorization: headers.authorization,
    cookie: headers.cookie,
    csrf: singleHeaderValue(headers['x-waymark-csrf']),
    from: forwardedValue('x-forwarded-for') ?? socket.remoteAddress ?? 'unknown',
    secure: forwardedValue('x-forwarded-proto') === 'https',
    connection: socket,
  }
}

/** The value of the nearest proxy: the client may have written the values before it. */
function lastHeaderValue(value: string | readonly string[] | undefined): string | undefined {
  const last = [value ?? []].flat().join(',').split(',').at(-1)?.trim()
  return last === '' ? undefined : last
}

function singleHeaderValue(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

/** The authenticated caller and their credential. */
export interface Caller {
  readonly actor: Actor
  /** The id of the token; for a cookie, of the token that began the session, else of the person. */
  readonly token: string
  /** The id of the cookie's session; null for a token. */
  readonly login: string | null
  /** The value that writing requests repeat in `X-Waymark-Csrf`; only for cookies. */
  readonly csrf: string | null
  /** The person with their permissions. */
  readonly principal: Principal
}

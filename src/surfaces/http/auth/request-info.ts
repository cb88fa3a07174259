import type { IncomingMessage } from 'node:http'
import type { Actor } from '../../../kernel/actor.ts'
import type { Principal } from './principal.ts'

/** What a request or an upgrade says of itself, as far as letting it in depends on it. */
export interface RequestInfo {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly target: string
  readonly host: string | undefined
  /** How many Host headers there are. Node tells the first one alone. */
  readonly hosts: number
  readonly origin: string | undefined
  /** What a browser says of where the request comes from: `Sec-Fetch-Site` and `Sec-Fetch-Mode`. */
  readonly site: string | undefined
  readonly mode: string | undefined
  readonly authorization: string | undefined
  readonly cookie: string | undefined
  readonly csrf: string | undefined
  /** The address of the other end; behind a proxy that is trusted, the one that it names. */
  readonly from: string
  /** Whether the client came over TLS, which a proxy in front ended. */
  readonly secure: boolean
  readonly connection: ConnectionPorts
}

/** The ports of both ends, by which the process at the other end can be found on this machine. */
export interface ConnectionPorts {
  readonly localPort?: number | undefined
  readonly remotePort?: number | undefined
}

export function requestInfoOf(
  { method = 'GET', url = '', headers, rawHeaders, socket }: IncomingMessage,
  { trustProxy }: { readonly trustProxy: boolean },
): RequestInfo {
  const said = (name: string) => (trustProxy ? lastHeaderValue(headers[name]) : undefined)
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
    from: said('x-forwarded-for') ?? socket.remoteAddress ?? 'unknown',
    secure: said('x-forwarded-proto') === 'https',
    connection: socket,
  }
}

/** What the nearest proxy said: whatever stands before it, the client may have written. */
function lastHeaderValue(value: string | readonly string[] | undefined): string | undefined {
  const last = [value ?? []].flat().join(',').split(',').at(-1)?.trim()
  return last === '' ? undefined : last
}

function singleHeaderValue(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

/** Who was let in, and by what. */
export interface Caller {
  readonly actor: Actor
  /** The id of the token; of a cookie, of the token by which it was had, or else of the person. */
  readonly token: string
  /** The id of the session that the cookie stands for; null for a token. */
  readonly login: string | null
  /** What a writing request must repeat in `X-Waymark-Csrf`; only callers with a cookie have one. */
  readonly csrf: string | null
  /** Who that is, with what they may. */
  readonly principal: Principal
}

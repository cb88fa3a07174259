import type { IncomingMessage } from 'node:http'

/** What a request or an upgrade says of itself, as far as letting it in depends on it. */
export interface Knock {
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
  /** The address of the other end. */
  readonly from: string
  readonly connection: Connection
}

/** The ports of both ends, by which the process at the other end can be found on this machine. */
export interface Connection {
  readonly localPort?: number | undefined
  readonly remotePort?: number | undefined
}

export function knockOf({ method = 'GET', url = '', headers, rawHeaders, socket }: IncomingMessage): Knock {
  return {
    method,
    target: url,
    host: headers.host,
    hosts: rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length,
    origin: headers.origin,
    site: single(headers['sec-fetch-site']),
    mode: single(headers['sec-fetch-mode']),
    authorization: headers.authorization,
    cookie: headers.cookie,
    csrf: single(headers['x-waymark-csrf']),
    from: socket.remoteAddress ?? 'unknown',
    connection: socket,
  }
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

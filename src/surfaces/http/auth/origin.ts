import { Refusal } from '../refusal.ts'
import type { RequestInfo } from './request-info.ts'

/** The allowed host names of this server. */
export interface AllowedHosts {
  /** The listening port. */
  readonly port: number
  /** More names from `--allow-host`: `build.example` or `build.example:443`. */
  readonly allowed: readonly string[]
}

const loopback = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Refuses a foreign host name. This stops DNS rebinding: a browser sends the name of the other site.
 */
export function checkHost({ host, hosts: count }: RequestInfo, hosts: AllowedHosts): string {
  if (count > 1) {
    throw new Refusal('INVALID_INPUT', `A request has one Host header, and this one has ${count}.`, {
      reason: 'host_header_count',
      headers: { Connection: 'close' },
    })
  }
  if (host !== undefined && isOwnHost(host.toLowerCase(), hosts)) return host.toLowerCase()
  const hostText = host === undefined ? 'no Host header' : `the Host "${host.slice(0, 200)}"`
  throw new Refusal('FORBIDDEN', `This server does not accept requests for ${hostText}.`, {
    reason: 'host_not_allowed',
    hint: `Use 127.0.0.1:${hosts.port}, or start it with --allow-host <name>.`,
  })
}

function isOwnHost(host: string, { port, allowed }: AllowedHosts): boolean {
  const [, name = '', portText] = /^(\[[0-9a-f:.]+\]|[^:]+)(?::(\d+))?$/.exec(host) ?? []
  const own = portText === undefined ? port === 80 : Number(portText) === port
  if (own && loopback.includes(name)) return true
  return allowed.some((entry) => entry.toLowerCase() === name || entry.toLowerCase() === host)
}

/**
 * Refuses requests of a page from another origin. Another port is another origin, although cookies ignore ports. Without
 * an Origin header the Sec-Fetch headers decide.
 */
export function checkOrigin({ origin, site, mode, method }: RequestInfo, host: string): void {
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw foreignOriginRefusal(`the origin "${origin.slice(0, 200)}"`)
  }
  const elsewhere = site === 'cross-site' || site === 'same-site'
  const isLink = mode === 'navigate' && method === 'GET'
  if (elsewhere && !isLink) throw foreignOriginRefusal(`another site (${site})`)
}

function foreignOriginRefusal(source: string): Refusal {
  return new Refusal(
    'FORBIDDEN',
    `Requests from ${source} are refused: only this server's own pages may send them.`,
    {
      reason: 'origin_not_allowed',
      hint: 'Programs send no Origin header. Pages of other sites cannot use this server.',
    },
  )
}

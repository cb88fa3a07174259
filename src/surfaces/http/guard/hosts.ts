import { Refusal } from '../refusal/refusal.ts'
import type { Knock } from './knock.ts'

/** By what names this server may be addressed. */
export interface Hosts {
  /** The port that it listens on. */
  readonly port: number
  /** Other names than this machine's own, of `--allow-host`: `build.example` or `build.example:443`. */
  readonly allowed: readonly string[]
}

const loopback = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Refuses an address that is not ours. A page of another site whose name was made to point here is stopped by this,
 * because a browser sends the name it believes in.
 */
export function checkHost({ host, hosts: count }: Knock, hosts: Hosts): string {
  if (count > 1) {
    throw new Refusal('INVALID_INPUT', `A request has one Host header, and this one has ${count}.`, {
      headers: { Connection: 'close' },
    })
  }
  if (host !== undefined && isOurs(host.toLowerCase(), hosts)) return host.toLowerCase()
  const given = host === undefined ? 'no Host header' : `the Host "${host.slice(0, 200)}"`
  throw new Refusal('FORBIDDEN', `This server does not answer to ${given}.`, {
    hint: `Use 127.0.0.1:${hosts.port}, or start it with --allow-host <name>.`,
  })
}

function isOurs(host: string, { port, allowed }: Hosts): boolean {
  const [, name = '', given] = /^(\[[0-9a-f:.]+\]|[^:]+)(?::(\d+))?$/.exec(host) ?? []
  const own = given === undefined ? port === 80 : Number(given) === port
  if (own && loopback.includes(name)) return true
  return allowed.some((entry) => entry.toLowerCase() === name || entry.toLowerCase() === host)
}

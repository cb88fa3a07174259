import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Networks that are not the public internet: of this machine, of a company, of a provider's own services. */
const privateRanges = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  privateRanges.addSubnet(network, prefix, 'ipv4')
}
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const) {
  privateRanges.addSubnet(network, prefix, 'ipv6')
}

/** Whether an address is not one of the public internet. One of IPv4 is recognised in the clothes of IPv6. */
export function isPrivate(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return privateRanges.check(address, 'ipv4')
  if (family === 0) return true
  const inside = embeddedIpv4(address)
  return inside === null ? privateRanges.check(address, 'ipv6') : privateRanges.check(inside, 'ipv4')
}

/** The IPv4 address in an IPv6 one: mapped, compatible, NAT64 or 6to4. */
function embeddedIpv4(address: string): string | null {
  const groups = groupsOf(address)
  const four = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const head = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':')
  if (head === '0:0:0:0:0:ffff' || head === '64:ff9b:0:0:0:0') return four(groups[6], groups[7])
  if (head === '0:0:0:0:0:0' && (groups[6] ?? 0) > 0) return four(groups[6], groups[7])
  return groups[0] === 0x2002 ? four(groups[1], groups[2]) : null
}

function groupsOf(address: string): readonly number[] {
  // The URL parser normalizes addresses.
  const normalized = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
  const [before = '', after] = normalized.split('::')
  const parse = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [left, right] = [parse(before), parse(after ?? '')]
  return after === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill(0), ...right]
}

export class PrivateAddress extends Error {}

/**
 * Resolves a host name, and fails for a private address. It runs when connecting, so that no second DNS answer can lead
 * elsewhere.
 */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error || !first) {
      done(error ?? new Error(`no address of ${hostname}`), '', 0)
    } else if (addresses.some(({ address }) => isPrivate(address))) {
      done(new PrivateAddress(hostname), '', 0)
    } else if (options.all) {
      done(null, addresses)
    } else {
      done(null, first.address, first.family)
    }
  })
}

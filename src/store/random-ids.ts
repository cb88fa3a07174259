import { type IdKind, type IdSource, idPrefixes } from '../kernel/id.ts'
import { fingerprint } from './fingerprint.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford base32: no i, l, o, u
const length = 12

/** Ids with 60 random bits; those of runs and commands sort by time. The log does not depend on their order. */
export const randomIds: IdSource = {
  next: (kind: IdKind) => `${idPrefixes[kind]}-${charactersOf(kind)}` as never, // the kind names the brand
  hash: fingerprint,
}

function charactersOf(kind: IdKind): string {
  if (kind === 'run') return uuidOfNow()
  // A machine that forgets old commands can still compare their ages.
  if (kind === 'commandResult') return `${timeCharacters()}${randomCharacters()}`
  return randomCharacters()
}

/** Milliseconds in nine characters that sort by time. */
function timeCharacters(): string {
  let rest = Date.now()
  let characters = ''
  for (let place = 0; place < 9; place += 1) {
    characters = `${alphabet[rest % alphabet.length]}${characters}`
    rest = Math.floor(rest / alphabet.length)
  }
  return characters
}

/** A UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random ones. */
function uuidOfNow(): string {
  const random = crypto.getRandomValues(new Uint8Array(16))
  const view = new DataView(random.buffer)
  const now = Date.now()
  view.setUint32(0, Math.floor(now / 0x10000))
  view.setUint16(4, now % 0x10000)
  view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x70)
  view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80)
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

// Reading random bytes in blocks costs the same as for one id.
let bytes = new Uint8Array(0)

function randomCharacters(): string {
  if (bytes.length < length) bytes = crypto.getRandomValues(new Uint8Array(64 * length))
  let characters = ''
  for (const byte of bytes.subarray(0, length)) characters += alphabet[byte % alphabet.length]
  bytes = bytes.subarray(length)
  return characters
}

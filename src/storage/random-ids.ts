import { type IdKind, type IdSource, idPrefixes } from '../domain/id.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford base32: no i, l, o, u
const length = 12

/** Ids of 60 random bits. Order never comes from them. */
export const randomIds: IdSource = {
  next: (kind: IdKind) => `${idPrefixes[kind]}-${kind === 'run' ? uuidOfNow() : randomCharacters()}` as never, // the kind names the brand
}

/** A UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random ones. */
function uuidOfNow(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const view = new DataView(bytes.buffer)
  const now = Date.now()
  view.setUint32(0, Math.floor(now / 0x10000))
  view.setUint16(4, now % 0x10000)
  view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x70)
  view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function randomCharacters(): string {
  let characters = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(length)))
    characters += alphabet[byte % alphabet.length]
  return characters
}

import { type IdKind, type IdSource, idPrefixes } from '../domain/id.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford base32: no i, l, o, u
const length = 12

/** Ids of 60 random bits. Order never comes from them. */
export const randomIds: IdSource = {
  next: (kind: IdKind) => `${idPrefixes[kind]}-${randomCharacters()}` as never, // the kind names the brand
}

function randomCharacters(): string {
  let characters = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(length)))
    characters += alphabet[byte % alphabet.length]
  return characters
}

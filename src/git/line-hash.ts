import { createHash, hash } from 'node:crypto'
import { blankHash, hashLength, minSolidCharacters, shortLinePrefix } from '../lines/domain/line-hashes.ts'

/** Hashes lines, given as bytes, for one project: the same line has another hash in another project. */
export function lineHasher(salt: string): (line: string) => string {
  if (last?.salt === salt && last.hashes.size < maxKept) return last.hashOf
  const hashes = new Map<string, string>()
  const prefix = createHash('sha256').update(`waymark lines\0${salt}`).digest()
  const place = Buffer.alloc(prefix.length + shortLine)
  place.set(prefix)
  const bytesOf = (bare: string): Buffer => {
    if (bare.length > shortLine) return Buffer.concat([prefix, Buffer.from(bare, 'latin1')])
    return place.subarray(0, prefix.length + place.write(bare, prefix.length, 'latin1'))
  }
  const hashOf = (line: string): string => {
    const bare = line.replace(/[ \t\r\f\v]+/g, '')
    if (bare === '') return blankHash
    const earlier = hashes.get(bare)
    if (earlier !== undefined) return earlier
    const text = hash('sha256', bytesOf(bare), 'base64url').slice(0, hashLength)
    const made = isThin(bare) ? shortLinePrefix + text.slice(1) : text
    if (hashes.size < maxKnown) hashes.set(bare, made)
    return made
  }
  last = { salt, hashes, hashOf }
  return hashOf
}

// Changes mostly touch the same lines again, so hashes are cached.
let last: {
  readonly salt: string
  readonly hashes: ReadonlyMap<string, string>
  readonly hashOf: (line: string) => string
} | null = null

const maxKnown = 100_000
// The most hashes that are kept for the next call.
const maxKept = 20_000
const shortLine = 1_000

function isThin(bare: string): boolean {
  if (bare.length < minSolidCharacters) return true
  // A character takes at most three bytes per unit of its length.
  return (
    bare.length < minSolidCharacters * 3 &&
    Buffer.from(bare, 'latin1').toString('utf8').length < minSolidCharacters
  )
}

/** The lines of a content, as bytes. */
export function splitBufferLines(content: Buffer): string[] {
  if (content.length === 0) return []
  const lines = content.toString('latin1').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Whether a content is binary, as git decides it. */
export function isBinary(content: Buffer): boolean {
  return content.subarray(0, 8_000).includes(0)
}

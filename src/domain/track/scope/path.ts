/** A path in the forms that areas are compared with. */
export interface ScopePath {
  /** Lower-case NFC, relative to the work tree's top. */
  readonly top: string
  /** NFC, relative to the project's folder; null for a path outside it. */
  readonly own: string | null
  /** `own` in lower case. */
  readonly folded: string | null
  readonly isAscii: boolean
}

/** Prepares a path (from the work tree's top) for matching. `prefix` is the project's folder, folded, `''` or ending in `/`. */
export function scopePath(path: string, prefix: string): ScopePath {
  const isAscii = !BEYOND_ASCII.test(path)
  const text = isAscii ? path : path.normalize('NFC')
  const top = text.toLowerCase()
  if (prefix === '') return { top, own: text, folded: top, isAscii }
  if (!top.startsWith(prefix)) return { top, own: null, folded: null, isAscii }
  const own = text
    .split('/')
    .slice(prefix.split('/').length - 1)
    .join('/')
  return { top, own, folded: own.toLowerCase(), isAscii }
}

/** Case-insensitive Unicode NFC: two spellings of one path are equal after this. */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

const BEYOND_ASCII = /[\u0080-\uffff]/

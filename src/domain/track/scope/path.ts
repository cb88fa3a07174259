/** A path in the forms that areas are compared with. */
export interface ScopePath {
  /** Lower-case NFC, relative to the work tree's top. */
  readonly top: string
  /** NFC, relative to the project's folder; null for a path outside it. */
  readonly own: string | null
  /** `own` in lower case. */
  readonly folded: string | null
}

/** Prepares a path (from the work tree's top) for matching. `prefix` is the project's folder, folded, `''` or ending in `/`. */
export function scopePath(path: string, prefix: string): ScopePath {
  const text = normalised(path)
  const top = text.toLowerCase()
  if (prefix === '') return { top, own: text, folded: top }
  if (!top.startsWith(prefix)) return { top, own: null, folded: null }
  const own = text
    .split('/')
    .slice(prefix.split('/').length - 1)
    .join('/')
  return { top, own, folded: own.toLowerCase() }
}

/** Case-insensitive Unicode NFC: two spellings of one path are equal after this. */
export function folded(text: string): string {
  return normalised(text).toLowerCase()
}

const BEYOND_ASCII = /[\u0080-\uffff]/

function normalised(text: string): string {
  return BEYOND_ASCII.test(text) ? text.normalize('NFC') : text
}

import { resolvePath } from '../../../kernel/path-below.ts'
import type { GitPaths } from './git-effects.ts'

/** The place of a command in its work tree. */
export interface PathspecPlace {
  /** Absolute path of the work tree's top. */
  readonly top: string
  /** From the top to the command's folder: `''`, or ending with `/`. */
  readonly prefix: string
}

interface Pathspec {
  readonly excludes: boolean
  readonly ignoresCase: boolean
  /** From the top; `''` is everything. */
  readonly pattern: string
}

/** Whether a path, from the top, is one of these, as git matches it: a pattern covers the folders below it. */
export function pathspecMatcher(paths: GitPaths, place: PathspecPlace): (path: string) => boolean {
  if (paths === 'all') return () => true
  const specs = paths.map((text) => parsePathspec(text, place)).filter((spec) => spec !== null)
  const including = specs.filter(({ excludes }) => !excludes)
  const excluding = specs.filter(({ excludes }) => excludes)
  const isOnlyExcluding = specs.length > 0 && including.length === 0
  return (path) =>
    (isOnlyExcluding || including.some((spec) => matches(spec, path))) &&
    !excluding.some((spec) => matches(spec, path))
}

// Null if it names nothing in the work tree.
function parsePathspec(text: string, place: PathspecPlace): Pathspec | null {
  const { top, prefix } = place
  let rest = text
  let [isFromTop, excludes, ignoresCase, isLiteral] = [false, false, false, false]
  const long = /^:\(([^)]*)\)/.exec(text)
  const short = /^:([/!^]+)/.exec(text)
  if (long !== null) {
    rest = text.slice(long[0].length)
    const words = long[1]?.split(',') ?? []
    isFromTop = words.includes('top')
    excludes = words.includes('exclude')
    ignoresCase = words.includes('icase')
    isLiteral = words.includes('literal')
  } else if (short !== null) {
    rest = text.slice(short[0].length)
    isFromTop = short[0].includes('/')
    excludes = /[!^]/.test(short[0])
  }
  const path = pathFromTop(rest, { top, prefix: isFromTop ? '' : prefix })
  if (path === null) return null
  return { excludes, ignoresCase, pattern: isLiteral ? path.replace(/[*?[\\]/g, '\\$&') : path }
}

/** A path from the top, without `.` and `..`; null if it leads out. */
function pathFromTop(text: string, { top, prefix }: PathspecPlace): string | null {
  const slashed = text.replace(/\\(?=\w)/g, '\\')
  const isAbsolute = slashed.startsWith('/') || /^[A-Za-z]:[\\/]/.test(slashed)
  if (isAbsolute) {
    if (slashed === top || slashed === `${top}/`) return ''
    return slashed.startsWith(`${top}/`) ? resolvePath(slashed.slice(top.length + 1)) : null
  }
  return resolvePath(prefix + slashed)
}

function matches({ pattern, ignoresCase }: Pathspec, path: string): boolean {
  if (pattern === '') return true
  const [spec, name] = ignoresCase ? [pattern.toLowerCase(), path.toLowerCase()] : [pattern, path]
  if (name === spec || name.startsWith(`${spec}/`)) return true
  // git takes a pattern for a folder too.
  return /[*?[\\]/.test(spec) && (matchesGlob(spec, name) || matchesGlob(`${spec}/*`, name))
}

/** Whether a text matches a pattern in which `*` is any characters, in time of the product of both lengths. */
export function matchesGlob(pattern: string, text: string): boolean {
  let [at, in_] = [0, 0]
  let star = -1
  let starAt = 0
  while (in_ < text.length) {
    const part = pattern[at] === '*' ? null : partAt(pattern, at)
    if (part?.matches(text[in_] ?? '') === true) {
      at += part.length
      in_ += 1
    } else if (pattern[at] === '*') {
      star = at
      starAt = in_
      at += 1
    } else if (star >= 0) {
      starAt += 1
      in_ = starAt
      at = star + 1
    } else return false
  }
  while (pattern[at] === '*') at += 1
  return at >= pattern.length
}

interface GlobPart {
  readonly length: number
  readonly matches: (char: string) => boolean
}

/** One character of a pattern, or a set of them; null at its end. */
function partAt(pattern: string, at: number): GlobPart | null {
  const char = pattern[at]
  if (char === undefined) return null
  if (char === '?') return { length: 1, matches: () => true }
  if (char === '\\') {
    const escaped = pattern[at + 1] ?? '\\'
    return { length: 2, matches: (other) => other === escaped }
  }
  const end = char === '[' ? pattern.indexOf(']', at + 2) : -1
  // A set may hold classes and ranges: it is taken for any character, so that nothing is missed.
  if (end >= 0 && end - at < 100) return { length: end - at + 1, matches: () => true }
  return { length: 1, matches: (other) => other === char }
}

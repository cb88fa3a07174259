import picomatch from 'picomatch'
import { RE2JS } from 're2js'
import { Failure } from './failure.ts'
import { excerpt } from './text.ts'

/** A regular expression whose time is at most its size times the length of the text. */
export interface LinearPattern {
  /** The maximum length of a text, in characters. */
  readonly longest: number
  test(text: string): boolean
}

const maxSourceLength = 1_000
/** Maximum program size times text length: some tens of milliseconds. */
const maxSteps = 500_000
const maxPatterns = 200
const patterns = new Map<string, LinearPattern | null>()

/** Compiles a JavaScript regular expression; null if it has look-around or back references, or is too big. */
export function linearPattern(source: string): LinearPattern | null {
  const cached = patterns.get(source)
  if (cached !== undefined) return cached
  const pattern = compilePattern(source, 0)
  if (patterns.size >= maxPatterns) patterns.clear()
  patterns.set(source, pattern)
  return pattern
}

function compilePattern(source: string, flags: number): LinearPattern | null {
  if (source.length > maxSourceLength) return null
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(source), flags)
    const longest = Math.floor(maxSteps / program.programSize())
    return { longest, test: (text) => program.test(text) }
  } catch {
    return null
  }
}

export interface GlobOptions {
  /** Ignores case. */
  readonly anyCase?: boolean
}

/** Whether a path matches a glob. Its time is linear in the length of the path. */
export type GlobMatcher = (path: string) => boolean

/**
 * Compiles a glob of `*`, `**`, `?`, `[…]` and `{…,…}`; a leading exclamation mark is an ordinary character. Fails if
 * matching it would take too long.
 */
export function globMatcher(glob: string, { anyCase = false }: GlobOptions = {}): GlobMatcher {
  if (glob === '') return () => false
  if (glob.length > maxGlobLength) throw costlyPatternFailure(glob)
  const options = { dot: true, nonegate: true, nocase: anyCase }
  const expression = picomatch.makeRe(glob, options)
  if (isPlain(glob)) return (path) => path.length <= maxPathLength && expression.test(path)
  const pattern = compilePattern(
    expression.source.replace(looksAhead, ''),
    anyCase ? RE2JS.CASE_INSENSITIVE : 0,
  )
  // A path has at most 4,096 characters: a program of five hundred steps takes 0.1 seconds for it.
  if (pattern === null || pattern.longest < 1_000) throw costlyPatternFailure(glob)
  return (path) => path.length <= maxPathLength && pattern.test(path)
}

/** Whether a glob can match anything; one with unbalanced braces or brackets never does. */
export function isReadableGlob(glob: string): boolean {
  if (glob.length > maxGlobLength) throw costlyPatternFailure(glob)
  return picomatch.makeRe(glob, { dot: true, nonegate: true }).source !== '$^'
}

/** Longer globs and paths match nothing. */
const maxGlobLength = 1_000
const maxPathLength = 4_096

/** Whether backtracking is harmless: with more stars and choices it may take exponential time. */
function isPlain(glob: string): boolean {
  const stars = glob.match(/\*+|\+/g)?.length ?? 0 // a plus repeats what stands before it
  return stars <= 2 && (glob.match(/[{(]/g)?.length ?? 0) <= 1 && glob.length <= 200
}

// Look-aheads of picomatch for segments `.` and `..`, which no path of a work tree has.
const looksAhead = /\(\?!(?:\(\?:\^\|\\\/\))?\\\.\{[01],[12]\}\(\?:\\\/\|\$\)\)|\(\?=\.\)/g

function costlyPatternFailure(glob: string): Failure {
  const shownGlob = excerpt(glob, 80)
  return new Failure('INVALID_INPUT', `The glob "${shownGlob}" would take too long to match.`, {
    reason: 'pattern_too_costly',
    hint: 'Use fewer stars and choices; several globs do the same.',
  })
}

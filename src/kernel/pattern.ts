import picomatch from 'picomatch'
import { RE2JS } from 're2js'
import { Failure } from './failure.ts'
import { excerpt } from './text.ts'

/** A regular expression that takes no longer than its own size times the length of a text, whatever both are. */
export interface LinearPattern {
  /** The longest text that it is tried on, in characters. */
  readonly longest: number
  test(text: string): boolean
}

const maxSourceLength = 1_000
/** Size of a program times length of a text: so many steps take some tens of milliseconds. */
const maxSteps = 500_000
const kept = 200
const patterns = new Map<string, LinearPattern | null>()

/** Reads a regular expression of JavaScript; null for one with look-around or back references, or that is far too big. */
export function linearPattern(source: string): LinearPattern | null {
  const known = patterns.get(source)
  if (known !== undefined) return known
  const pattern = compilePattern(source, 0)
  if (patterns.size >= kept) patterns.clear()
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
  /** Upper and lower case are one. */
  readonly anyCase?: boolean
}

/** Whether a path matches a glob. Takes a time that grows with the length of the path alone. */
export type GlobMatcher = (path: string) => boolean

/**
 * Reads a glob of `*`, `**`, `?`, `[…]` and `{…,…}`; an exclamation mark at its beginning is an ordinary character. Fails
 * for one that cannot be matched in good time.
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
  // A path has at most 4,096 characters: a program of five hundred steps takes a tenth of a second for it.
  if (pattern === null || pattern.longest < 1_000) throw costlyPatternFailure(glob)
  return (path) => path.length <= maxPathLength && pattern.test(path)
}

/** Whether anything can match a glob: one whose braces or brackets do not fit together is read as what never does. */
export function isReadableGlob(glob: string): boolean {
  if (glob.length > maxGlobLength) throw costlyPatternFailure(glob)
  return picomatch.makeRe(glob, { dot: true, nonegate: true }).source !== '$^'
}

/** Longer ones name nothing. */
const maxGlobLength = 1_000
const maxPathLength = 4_096

/** With two stars and one choice a regular expression goes back few times. With more, it may try without end. */
function isPlain(glob: string): boolean {
  const stars = glob.match(/\*+|\+/g)?.length ?? 0 // a plus repeats what stands before it
  return stars <= 2 && (glob.match(/[{(]/g)?.length ?? 0) <= 1 && glob.length <= 200
}

// What picomatch looks ahead for: segments that are `.` or `..`, or nothing. No path of a work tree has such a one.
const looksAhead = /\(\?!(?:\(\?:\^\|\\\/\))?\\\.\{[01],[12]\}\(\?:\\\/\|\$\)\)|\(\?=\.\)/g

function costlyPatternFailure(glob: string): Failure {
  const shown = excerpt(glob, 80)
  return new Failure('INVALID_INPUT', `The glob "${shown}" would take too long to match.`, {
    reason: 'pattern_too_costly',
    hint: 'Use fewer stars and choices; several globs do the same.',
  })
}

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

const longestSource = 1_000
/** Size of a program times length of a text: so many steps take some tens of milliseconds. */
const mostSteps = 500_000
const kept = 200
const patterns = new Map<string, LinearPattern | null>()

/** Reads a regular expression of JavaScript; null for one with look-around or back references, or that is far too big. */
export function linearPattern(source: string): LinearPattern | null {
  const known = patterns.get(source)
  if (known !== undefined) return known
  const pattern = compiled(source, 0)
  if (patterns.size >= kept) patterns.clear()
  patterns.set(source, pattern)
  return pattern
}

/** The same, where upper and lower case are one. */
function linearPatternOfAnyCase(source: string): LinearPattern | null {
  return compiled(source, RE2JS.CASE_INSENSITIVE)
}

function compiled(source: string, flags: number): LinearPattern | null {
  if (source.length > longestSource) return null
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(source), flags)
    const longest = Math.floor(mostSteps / program.programSize())
    return { longest, test: (text) => program.test(text) }
  } catch {
    return null
  }
}

export interface GlobOptions {
  /** Upper and lower case are one, and an exclamation mark is an ordinary sign. */
  readonly areas?: boolean
}

/** Whether a path matches a glob. Takes a time that grows with the length of the path alone. */
export type GlobMatcher = (path: string) => boolean

/** Matches paths against any of several globs. Fails for a glob that cannot be matched in good time. */
export function anyGlob(globs: readonly string[]): GlobMatcher {
  const matchers = globs.map((glob) => globMatcher(glob))
  return (path) => matchers.some((matches) => matches(path))
}

export function globMatcher(glob: string, { areas = false }: GlobOptions = {}): GlobMatcher {
  if (glob === '') return () => false
  if (glob.length > longestGlob) throw tooCostly(glob)
  if (!areas && /^!(?!\()/.test(glob)) {
    const inner = globMatcher(glob.slice(1))
    return (path) => !inner(path)
  }
  if (isPlain(glob)) {
    const matches = areas ? null : picomatch(glob, { dot: true })
    const expression = picomatch.makeRe(glob, areaOptions)
    return matches ? (path) => matches(path) : (path) => expression.test(path)
  }
  return linear(glob, areas)
}

/** Longer ones name nothing. */
const longestGlob = 1_000
const areaOptions = { dot: true, nocase: true, nonegate: true }

/** With two stars and one choice a regular expression goes back few times. With more, it may try without end. */
function isPlain(glob: string): boolean {
  const stars = glob.match(/\*+|\+/g)?.length ?? 0 // a plus repeats what stands before it
  return stars <= 2 && (glob.match(/[{(]/g)?.length ?? 0) <= 1 && glob.length <= 200
}

// What picomatch looks ahead for: segments that are `.` or `..`, or nothing. No path of a work tree has such a one.
const looksAhead = /\(\?!(?:\(\?:\^\|\\\/\))?\\\.\{[01],[12]\}\(\?:\\\/\|\$\)\)|\(\?=\.\)/g

function linear(glob: string, areas: boolean): GlobMatcher {
  const { source } = picomatch.makeRe(glob, areas ? areaOptions : { dot: true })
  const bare = source.replace(looksAhead, '')
  const pattern = areas ? linearPatternOfAnyCase(bare) : linearPattern(bare)
  if (pattern === null) throw tooCostly(glob)
  return (path) => {
    if (path === glob && !areas) return true
    if (path.length > pattern.longest) throw tooCostly(glob)
    return pattern.test(path)
  }
}

function tooCostly(glob: string): Failure {
  const shown = excerpt(glob, 80)
  return new Failure('INVALID_INPUT', `The glob "${shown}" would take too long to match.`, {
    hint: 'Use fewer stars and choices, and no !(…) beside them; several globs do the same.',
  })
}

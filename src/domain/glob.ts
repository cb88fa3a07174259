import picomatch from 'picomatch'
import { Failure } from './failure.ts'
import { linearPattern, linearPatternOfAnyCase } from './linear-pattern.ts'

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
  const stars = glob.match(/\*+/g)?.length ?? 0
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
  const shown = glob.length > 80 ? `${glob.slice(0, 79)}…` : glob
  return new Failure('INVALID_INPUT', `The glob "${shown}" would take too long to match.`, {
    hint: 'Use fewer stars and choices, and no !(…) beside them; several globs do the same.',
  })
}

import { RE2JS } from 're2js'

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
export function linearPatternOfAnyCase(source: string): LinearPattern | null {
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

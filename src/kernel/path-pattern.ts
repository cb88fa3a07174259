import { Failure, messageOf } from './failure.ts'
import { type GlobMatcher, globMatcher, isReadableGlob } from './pattern.ts'
import { excerpt } from './text.ts'

/**
 * Patterns for paths from the project's folder: of guards, artifacts, pinned files, tool permissions and the setting
 * `sensitive`. A leading `./` or `/` is dropped. A last segment without `*` and `?` names a file, or a folder with its
 * content. Anything else is a case-sensitive glob: `*`, `**`, `?`, `[…]`, `{a,b}`. A leading exclamation mark excludes paths
 * from a list; a list of exclusions alone means everything else.
 */
export interface PathPatterns {
  readonly matches: (path: string) => boolean
  /** The patterns that are not negated. */
  readonly each: readonly { readonly text: string; readonly matches: (path: string) => boolean }[]
}

/** The patterns of a text such as `src/, test/{a,b}.ts`: commas inside braces belong to a pattern. */
export function splitPatterns(text: string): readonly string[] {
  return text.split(/,(?![^{}]*\})/).map((pattern) => pattern.trim())
}

/** Compiles a list. Fails with INVALID_INPUT for a pattern that can match nothing. */
export function pathPatterns(texts: readonly string[]): PathPatterns {
  const cached = compiled.get(texts)
  if (cached) return cached
  const patterns = texts.map((text) => ({ text, ...readPattern(text) }))
  const excluded = patterns.filter(({ negated }) => negated)
  const isOut = (path: string): boolean => excluded.some(({ matches }) => matches(path))
  const included = patterns.filter(({ negated }) => !negated)
  const effective = included.length > 0 ? included : [{ text: texts.join(', '), matches: isInside }]
  const each = effective.map(({ text, matches }) => ({
    text,
    matches: (path: string) =>
      isInside(path) && matches(toComposedText(path)) && !isOut(toComposedText(path)),
  }))
  const list = { each, matches: (path: string) => each.some(({ matches }) => matches(path)) }
  compiled.set(texts, list)
  return list
}

// A thousand files are compared with the patterns of one definition.
const compiled = new WeakMap<readonly string[], PathPatterns>()

/** Why a pattern can match no file of the project, as the rest of a sentence; null if it can. */
export function patternProblem(text: string): string | null {
  const bare = text.trim().replace(/^!/, '').trim()
  if (bare === '') return 'is empty'
  if (bare.includes('\\')) return 'has a backslash: write / between folders, and [*] for a star itself'
  if (/^[A-Za-z]:/.test(bare) || bare.startsWith('~')) {
    return 'is outside the project: patterns are from its folder, as in src/'
  }
  if (bare.match(/\{[^{}]*\}/g)?.some((choice) => choice.includes('..')))
    return 'has a range in braces: write each, as in {1,2,3}'
  const segments = bare.split('/')
  if (segments.includes('..'))
    return 'has "..": patterns are from the project’s folder, and nothing outside counts'
  if (segments.includes('.git')) return 'is in .git, whose files are never measured'
  try {
    readGlob(normalizePattern(bare))
    return null
  } catch (error) {
    return `cannot be used: ${messageOf(error).replace(/\.$/, '')}`
  }
}

/** Converts a path from the work tree's top to one from the project's folder; null outside. */
export function pathInsidePrefix(path: string, prefix: string): string | null {
  return path.startsWith(prefix) ? path.slice(prefix.length) : null
}

function readPattern(text: string): { readonly negated: boolean; readonly matches: GlobMatcher } {
  const problem = patternProblem(text)
  if (problem !== null) throw invalidPatternFailure(text, problem)
  const trimmed = text.trim()
  const negated = trimmed.startsWith('!')
  return { negated, matches: readGlob(normalizePattern(negated ? trimmed.slice(1).trim() : trimmed)) }
}

function invalidPatternFailure(text: string, problem: string): Failure {
  return new Failure('INVALID_INPUT', `The path pattern "${excerpt(text, 80)}" ${problem}.`, {
    reason: 'path_pattern_invalid',
    hint: 'Correct it: src/ is a folder with all that is in it, src/**/*.sql a glob.',
  })
}

/** Normalizes Unicode, and removes empty and `.` segments; empty for the project's folder. */
function normalizePattern(pattern: string): string {
  const segments = toComposedText(pattern).split('/')
  const parts = segments.filter((segment) => segment !== '' && segment !== '.')
  return parts.join('/') + (segments.at(-1) === '' && parts.length > 0 ? '/' : '')
}

function readGlob(pattern: string): GlobMatcher {
  if (pattern === '') return () => true
  const below = pattern.replace(/\/$/, '')
  if (!/[*?[\]{}]/.test(below)) return (path) => path === below || path.startsWith(`${below}/`)
  const isFolder = pattern.endsWith('/')
  const namesFolder = isFolder || !/[*?]/.test(below.slice(below.lastIndexOf('/') + 1))
  const forms = namesFolder ? [...(isFolder ? [] : [below]), `${below}/**`] : [below]
  const matchers = forms.map(formMatcher)
  return (path) => matchers.some((matches) => matches(path))
}

function formMatcher(form: string): GlobMatcher {
  const globs = readings(form).filter(isReadableGlob)
  if (globs.length === 0)
    throw new Failure('INVALID_INPUT', 'its braces or brackets do not fit together', {
      reason: 'path_pattern_invalid',
    })
  const matchers = globs.map((glob) => globMatcher(glob))
  return (path) => matchers.some((matches) => matches(path))
}

/** Escapes parentheses and bars. Brackets are tried as a class and as part of a name, as in `app/[id]`. */
function readings(glob: string): readonly string[] {
  const ordinary = /[()|+@$^]/g
  const literal = (special: RegExp): string => glob.replace(special, '\\$&')
  return glob.includes('[') ? [literal(ordinary), literal(/[()|+@$^[\]]/g)] : [literal(ordinary)]
}

function isInside(path: string): boolean {
  return path !== '..' && !path.startsWith('../') && !path.startsWith('/')
}

function toComposedText(text: string): string {
  return text.normalize('NFC')
}

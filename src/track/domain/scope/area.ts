import { resolvePath } from '../../../kernel/path-below.ts'
import { type GlobMatcher, globMatcher } from '../../../kernel/pattern.ts'

export type AreaKind = 'everything' | 'glob' | 'anchored' | 'segments' | 'package' | 'word'

/** One declared area, ready to be compared with paths. */
export interface Area {
  /** As it was declared. */
  readonly text: string
  readonly kind: AreaKind
  readonly excludes: boolean
  readonly matches: (path: ScopePath) => boolean
}

/** The location of a scope in its work tree. */
export interface AreaContext {
  /** The project's folder, from the work tree's top: `''` or ending in `/`. */
  readonly prefix: string
  /** Workspace packages: name → folder, relative to the project. */
  readonly packages?: ReadonlyMap<string, string>
}

type Matcher = Pick<Area, 'kind' | 'matches'>

/** Parses one declared area; null for an empty one. Never fails: a mistyped area matches no file. */
export function parseArea(text: string, context: AreaContext): Area | null {
  const trimmed = text.trim()
  const excludes = trimmed.startsWith('!')
  const pattern = (excludes ? trimmed.slice(1).trim() : trimmed).normalize('NFC')
  if (pattern === '') return null
  return { text, excludes, ...matcherFor(pattern, context) }
}

function matcherFor(pattern: string, context: AreaContext): Matcher {
  if (/[*?[\]{}]/.test(pattern)) return glob(pattern)
  const path = pattern.replaceAll('\\', '/')
  if (/^(\/|\.{1,2}(\/|$))/.test(path)) return anchoredMatcher(path, context)
  if (path.startsWith('@')) {
    const folder = packageFolder(path, context)
    if (folder !== null) return { ...anchoredMatcher(`/${folder}`, context), kind: 'package' }
  }
  if (path.includes('/') || /\.[^.\s]+$/.test(path)) return segments(path)
  return word(path)
}

// Parentheses and bars are ordinary characters of a path (`app/(shop)/page.tsx`), not groups.
function glob(pattern: string): Matcher {
  const body = pattern.replace(/^\.?\//, '').replace(/\/$/, '/**')
  // Brackets are a character class or a literal folder name as in `app/[id]/page.tsx`: both are tried.
  const readings = body.includes('[') ? [/[()|]/g, /[()|[\]]/g] : [/[()|]/g]
  const expressions = readings.map((literal) => expressionFor(body.replace(literal, '\\$&')))
  const wholePath = pattern.includes('/')
  const matches = (path: string): boolean => expressions.some((expression) => expression(path))
  return { kind: 'glob', matches: ({ own }) => own !== null && matches(wholePath ? own : baseName(own)) }
}

/** A pattern that is invalid or too expensive matches no file. */
function expressionFor(glob: string): GlobMatcher {
  try {
    return globMatcher(glob, { anyCase: true })
  } catch {
    return () => false
  }
}

function anchoredMatcher(path: string, { prefix }: AreaContext): Matcher {
  const target = resolvePath(`${prefix}${path.replace(/^\/+/, '')}`)
  if (target === null) return { kind: 'anchored', matches: () => false }
  if (target === '') return { kind: 'everything', matches: () => true }
  const file = foldCase(target)
  const folder = `${file}/`
  return { kind: 'anchored', matches: ({ top }) => top === file || top.startsWith(folder) }
}

function packageFolder(path: string, { packages }: AreaContext): string | null {
  const target = foldCase(path)
  for (const [name, folder] of packages ?? []) {
    const packageName = foldCase(name)
    if (target === packageName) return folder
    if (target.startsWith(`${packageName}/`)) return `${folder}/${path.slice(packageName.length + 1)}`
  }
  return null
}

function segments(path: string): Matcher {
  const target = `/${foldCase(path).split('/').filter(Boolean).join('/')}/`
  const bare = target.slice(1, -1)
  return {
    kind: 'segments',
    // The first test is cheap and almost always answers.
    matches: ({ folded: own }) => own?.includes(bare) === true && `/${own}/`.includes(target),
  }
}

function word(text: string): Matcher {
  const pattern = wordPattern(text)
  if (pattern === null) return segments(text)
  const { hints, matches } = pattern
  return {
    kind: 'word',
    matches: ({ own, folded: lower, isAscii }) =>
      own !== null && lower !== null && hints.some((hint) => lower.includes(hint)) && matches(own, isAscii),
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The characters of words, as the insides of character classes. */
interface Alphabet {
  readonly letter: string
  readonly lower: string
  readonly upper: string
  readonly flags: string
}

const UNICODE: Alphabet = {
  letter: String.raw`\p{L}\p{N}\p{M}`,
  lower: String.raw`\p{Ll}\p{N}`,
  upper: String.raw`\p{Lu}`,
  flags: 'u',
}
const ASCII: Alphabet = { letter: 'A-Za-z0-9', lower: 'a-z0-9', upper: 'A-Z', flags: '' }

const CHUNK = new RegExp(`[${UNICODE.letter}]+`, 'gu')
const PARTS = new RegExp(camelBoundary(UNICODE), 'u')

/** A declared word, ready to be searched in paths. */
export interface WordPattern {
  /** Every matching path contains one of these in lower case: a cheap first test. */
  readonly hints: readonly string[]
  /** Whether one segment of the path contains the word's tokens one after another. */
  readonly matches: (path: string, isAscii: boolean) => boolean
}

/** Parses a word: split at punctuation and camelCase, lower case, plural s dropped. Null without a letter or digit. */
function wordPattern(text: string): WordPattern | null {
  const readings = wordReadings(text)
  if (readings.length === 0) return null
  // Six times faster than the Unicode pattern, and sufficient for nearly every path.
  const ascii = expression(readings, ASCII)
  let unicode: RegExp | undefined
  return {
    hints: readings.map(([first = '']) => first),
    matches(path, isAscii) {
      if (isAscii) return ascii.test(path)
      unicode ??= expression(readings, UNICODE)
      return unicode.test(path)
    },
  }
}

// By its camelCase parts, and written as one: `GitHub` is [git, hub] and [github], and so finds `github.ts`.
function wordReadings(text: string): readonly (readonly string[])[] {
  const chunks = text.match(CHUNK)
  if (chunks === null) return []
  const camelParts = chunks.flatMap((chunk) => chunk.split(PARTS)).map(singularToken)
  const wholeWords = chunks.map(singularToken)
  return camelParts.length === wholeWords.length ? [camelParts] : [camelParts, wholeWords]
}

// Words of up to three letters (`css`, `aws`) and a double s (`class`) are no plurals.
function singularToken(token: string): string {
  const lower = token.toLowerCase()
  return lower.length > 3 && lower.endsWith('s') && !lower.endsWith('ss') ? lower.slice(0, -1) : lower
}

function expression(readings: readonly (readonly string[])[], alphabet: Alphabet): RegExp {
  const { letter, flags } = alphabet
  const camel = camelBoundary(alphabet)
  const end = `(?:(?![${letter}])|${camel})`
  const choices = readings.map((tokens) => tokens.map(caseInsensitivePattern).join(`${end}[^${letter}/]*`))
  return new RegExp(`(?:(?<![${letter}])|${camel})(?:${choices.join('|')})${end}`, flags)
}

// Where camelCase parts meet. A lone capital before a capitalised word stays with it (`OAuth`), except the `I` that
// marks an interface (`IUser`).
function camelBoundary({ letter, lower, upper }: Alphabet): string {
  const word = `(?=[${upper}][${lower}])`
  return `(?<=[${lower}])(?=[${upper}])|(?<=[${upper}]{2})${word}|(?<=(?<![${letter}])I)${word}`
}

// Letter by letter, because the flag `i` would make capitals invisible to the boundaries.
function caseInsensitivePattern(token: string): string {
  const letters = Array.from(token, (letter) => {
    const upper = letter.toUpperCase()
    return upper === letter ? letter : `(?:${letter}|${upper})`
  })
  const plural = token.length >= 3 && !token.endsWith('s') ? '[sS]?' : ''
  return `${letters.join('')}${plural}`
}

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
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

const BEYOND_ASCII = /[\u0080-\uffff]/

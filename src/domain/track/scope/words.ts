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

/** A declared word, ready to be looked for in paths. */
export interface WordPattern {
  /** In lower case, one of these is part of every path that matches: a cheap first question. */
  readonly hints: readonly string[]
  /** Whether one segment of the path contains the word's tokens one after another. */
  readonly matches: (path: string, isAscii: boolean) => boolean
}

/** Reads a word: split at punctuation and camelCase, lower case, plural s dropped. Null when it has no letter or digit. */
export function wordPattern(text: string): WordPattern | null {
  const readings = readingsOf(text)
  if (readings.length === 0) return null
  // Six times faster than the other, and sufficient for nearly every path.
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
function readingsOf(text: string): readonly (readonly string[])[] {
  const chunks = text.match(CHUNK)
  if (chunks === null) return []
  const byParts = chunks.flatMap((chunk) => chunk.split(PARTS)).map(singular)
  const asOne = chunks.map(singular)
  return byParts.length === asOne.length ? [byParts] : [byParts, asOne]
}

// Words of up to three letters (`css`, `aws`) and a double s (`class`) are no plurals.
function singular(token: string): string {
  const lower = token.toLowerCase()
  return lower.length > 3 && lower.endsWith('s') && !lower.endsWith('ss') ? lower.slice(0, -1) : lower
}

function expression(readings: readonly (readonly string[])[], alphabet: Alphabet): RegExp {
  const { letter, flags } = alphabet
  const camel = camelBoundary(alphabet)
  const end = `(?:(?![${letter}])|${camel})`
  const choices = readings.map((tokens) => tokens.map(spelling).join(`${end}[^${letter}/]*`))
  return new RegExp(`(?:(?<![${letter}])|${camel})(?:${choices.join('|')})${end}`, flags)
}

// Where camelCase parts meet. A lone capital before a capitalised word stays with it (`OAuth`), except the `I` that
// marks an interface (`IUser`).
function camelBoundary({ letter, lower, upper }: Alphabet): string {
  const word = `(?=[${upper}][${lower}])`
  return `(?<=[${lower}])(?=[${upper}])|(?<=[${upper}]{2})${word}|(?<=(?<![${letter}])I)${word}`
}

// Letter by letter, because the flag `i` would make capitals invisible to the boundaries.
function spelling(token: string): string {
  const letters = Array.from(token, (letter) => {
    const upper = letter.toUpperCase()
    return upper === letter ? letter : `(?:${letter}|${upper})`
  })
  const plural = token.length >= 3 && !token.endsWith('s') ? '[sS]?' : ''
  return `${letters.join('')}${plural}`
}

const LETTER = String.raw`\p{L}\p{N}\p{M}`

// Where camelCase parts meet. A lone capital before a capitalised word stays with it (`OAuth`), except the `I` that
// marks an interface (`IUser`).
const CAMEL = String.raw`(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu}{2})(?=\p{Lu}\p{Ll})|(?<=(?<![${LETTER}])I)(?=\p{Lu}\p{Ll})`

const CHUNK = new RegExp(`[${LETTER}]+`, 'gu')
const PARTS = new RegExp(CAMEL, 'u')
const START = `(?:(?<![${LETTER}])|${CAMEL})`
const END = `(?:(?![${LETTER}])|${CAMEL})`

/** A declared word, ready to be looked for in paths. */
export interface WordPattern {
  /** In lower case, one of these is part of every path that matches: a cheap first question. */
  readonly hints: readonly string[]
  /** Matches a path in which one segment contains the word's tokens one after another. */
  readonly expression: RegExp
}

/** Reads a word: split at punctuation and camelCase, lower case, plural s dropped. Null when it has no letter or digit. */
export function wordPattern(text: string): WordPattern | null {
  const readings = readingsOf(text)
  if (readings.length === 0) return null
  const gap = `${END}[^${LETTER}/]*`
  const choices = readings.map((tokens) => tokens.map(spelling).join(gap)).join('|')
  return {
    hints: readings.map(([first = '']) => first),
    expression: new RegExp(`${START}(?:${choices})${END}`, 'u'),
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

// Letter by letter, because the flag `i` would make capitals invisible to the boundaries.
function spelling(token: string): string {
  const letters = Array.from(token, (letter) => {
    const upper = letter.toUpperCase()
    return upper === letter ? letter : `(?:${letter}|${upper})`
  })
  const plural = token.length >= 3 && !token.endsWith('s') ? '[sS]?' : ''
  return `${letters.join('')}${plural}`
}

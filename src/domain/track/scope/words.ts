const CHUNK = /[\p{L}\p{N}\p{M}]+/gu
// A lone capital before a capitalised word stays with it (`OAuth`), except C#'s and Java's `I` (`IUser`).
const CAMEL =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu}{2})(?=\p{Lu}\p{Ll})|(?<=(?<![\p{L}\p{N}])I)(?=\p{Lu}\p{Ll})/u

/** One run of letters and digits, with the parts that camelCase gives it: `GraphQLClient` → graph, ql, client. */
type Chunk = readonly string[]

/** Splits at punctuation, then at camelCase; lower case. */
export function chunksOf(text: string): readonly Chunk[] {
  return (text.match(CHUNK) ?? []).map((chunk) => chunk.split(CAMEL).map((part) => part.toLowerCase()))
}

/** Drops a plural s: `routes` → `route`; `class`, `css` and words of up to three letters stay. */
export function singular(token: string): string {
  return token.length > 3 && token.endsWith('s') && !token.endsWith('ss') ? token.slice(0, -1) : token
}

/** The ways to read a declared word: by its camelCase parts, and written as one: `GitHub` → [git, hub] and [github]. */
export function readingsOf(word: string): readonly (readonly string[])[] {
  const chunks = chunksOf(word)
  const byParts = chunks.flat().map(singular)
  const asOne = chunks.map((parts) => singular(parts.join('')))
  return byParts.length === asOne.length ? [byParts] : [byParts, asOne]
}

/** Whether the tokens stand one after another among the words of a path segment. */
export function containsTokens(segment: string, tokens: readonly string[]): boolean {
  const chunks = chunksOf(segment)
  return chunks.some((parts, at) => parts.some((_, part) => follows(chunks, { at, part }, tokens)))
}

interface Place {
  readonly at: number
  readonly part: number
}

// A token may be several camelCase parts written together, so that `github` finds `GitHub.ts`.
function follows(chunks: readonly Chunk[], from: Place, tokens: readonly string[]): boolean {
  const [token, ...rest] = tokens
  if (token === undefined) return true
  const parts = chunks[from.at]
  if (parts === undefined) return false
  let joined = ''
  for (let part = from.part; part < parts.length; part++) {
    joined += parts[part]
    if (singular(joined) !== token) continue
    const next = part + 1 < parts.length ? { at: from.at, part: part + 1 } : { at: from.at + 1, part: 0 }
    if (follows(chunks, next, rest)) return true
  }
  return false
}

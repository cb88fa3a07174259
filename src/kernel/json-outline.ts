/** Maximum depth of input: values are processed recursively. */
export const deepestNesting = 100

/** The depth and size of a JSON text, measured in one pass before it is parsed. */
export interface JsonOutline {
  readonly tooDeep: boolean
  /** At least as many values as reading it makes: each takes memory and is checked, however few bytes it has. */
  readonly values: number
  /** The `id` of the outermost object, as a message of JSON-RPC has it; of the part that was looked through. */
  readonly id: string | number | null
}

const quote = 0x22
const backslash = 0x5c
const [comma, colon] = [0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Looks a text through once, whether it is JSON or not; not on beyond a number of values, where that is named. */
export function outlineOf(text: string, maxValues = Number.POSITIVE_INFINITY): JsonOutline {
  let depth = 0
  let deepest = 0
  let values = 1
  let id: JsonOutline['id'] = null
  for (let at = 0; at < text.length && values <= maxValues; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === openBrace || sign === openBracket) {
      depth += 1
      values += 1
      deepest = Math.max(deepest, depth)
    } else if (sign === closeBrace || sign === closeBracket) depth -= 1
    else if (sign === comma) values += 1
    // A name takes longer to read than a value: thousands of different ones take seconds.
    else if (sign === colon) values += 2
    else if (sign === quote) {
      const end = endOfString(text, at)
      if (depth === 1 && end - at === 4 && text.startsWith('"id"', at)) id = idAfter(text, end) ?? id
      at = end - 1
    }
  }
  return { tooDeep: deepest > deepestNesting, values, id }
}

/** Behind the closing quote of the string that begins at a place; the end of the text where it is not closed. */
export function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === backslash) before -= 1
    // An even number of backslashes escape each other, and not the quote.
    if ((at - before) % 2 === 1) return at + 1
  }
  return text.length
}

const value = /\s{0,20}:\s{0,20}(-?\d{1,15}(?=[\s,}])|"[^"\\]{0,1000}")/y

function idAfter(text: string, at: number): string | number | null {
  value.lastIndex = at
  const written = value.exec(text)?.[1]
  if (written === undefined) return null
  return written.startsWith('"') ? written.slice(1, -1) : Number(written)
}

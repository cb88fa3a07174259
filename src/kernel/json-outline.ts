/** Maximum depth of input: values are processed recursively. */
export const deepestNesting = 100

/** The depth and size of a JSON text, measured in one pass before it is parsed. */
export interface JsonOutline {
  readonly tooDeep: boolean
  /** A lower limit of the number of values: each takes memory and is checked, however few bytes it has. */
  readonly values: number
  /** The `id` of the outermost object, as a message of JSON-RPC has it; of the part that was looked through. */
  readonly id: string | number | null
}

const quote = 0x22
const backslash = 0x5c
const [comma, colon] = [0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Scans a text once, whether it is JSON or not; stops after a number of values, if one is given. */
export function outlineOf(text: string, maxValues = Number.POSITIVE_INFINITY): JsonOutline {
  let depth = 0
  let deepest = 0
  let values = 1
  let id: JsonOutline['id'] = null
  for (let position = 0; position < text.length && values <= maxValues; position += 1) {
    const sign = text.charCodeAt(position)
    if (sign === openBrace || sign === openBracket) {
      depth += 1
      values += 1
      deepest = Math.max(deepest, depth)
    } else if (sign === closeBrace || sign === closeBracket) depth -= 1
    else if (sign === comma) values += 1
    // A name takes longer to parse than a value: thousands of different ones take seconds.
    else if (sign === colon) values += 2
    else if (sign === quote) {
      const end = endOfString(text, position)
      if (depth === 1 && end - position === 4 && text.startsWith('"id"', position))
        id = idAfter(text, end) ?? id
      position = end - 1
    }
  }
  return { tooDeep: deepest > deepestNesting, values, id }
}

/** The position after the closing quote of a string; the end of the text if it is not closed. */
export function endOfString(text: string, from: number): number {
  for (
    let position = text.indexOf('"', from + 1);
    position !== -1;
    position = text.indexOf('"', position + 1)
  ) {
    let before = position - 1
    while (text.charCodeAt(before) === backslash) before -= 1
    // An even number of backslashes escape each other, and not the quote.
    if ((position - before) % 2 === 1) return position + 1
  }
  return text.length
}

const value = /\s{0,20}:\s{0,20}(-?\d{1,15}(?=[\s,}])|"[^"\\]{0,1000}")/y

function idAfter(text: string, position: number): string | number | null {
  value.lastIndex = position
  const id = value.exec(text)?.[1]
  if (id === undefined) return null
  return id.startsWith('"') ? id.slice(1, -1) : Number(id)
}

import { endOfString } from '../../kernel/json-outline.ts'

/** The first JSON error of a text: `line 2, column 5: a value was expected, and there is "}"`. */
export function jsonMistake(text: string): string {
  const { at, expected } = findJsonMistake(text)
  if (at > maxLooked) return `it goes wrong somewhere after its first ${maxLooked} characters`
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - (before.lastIndexOf('\n') + 1) + 1
  const found = at >= text.length ? 'the text ends' : `there is ${JSON.stringify(text[at])}`
  return `line ${line}, column ${column}: ${expected} was expected, and ${found}`
}

/** The maximum of searched characters. */
const maxLooked = 250_000

interface JsonErrorPosition {
  readonly at: number
  readonly expected: string
}

type ExpectedToken = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing'

const words = {
  value: 'a value',
  'value or end': 'a value or ]',
  name: 'a name in quotes',
  'name or end': 'a name in quotes or }',
  colon: 'a colon',
  'comma or end': 'a comma or a closing bracket',
  nothing: 'the end',
} as const satisfies Record<ExpectedToken, string>

const plain = /(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Reads tokens until the first one that JSON does not allow. Reads each character once. */
function findJsonMistake(text: string): JsonErrorPosition {
  const open: ('{' | '[')[] = []
  let expected: ExpectedToken = 'value'
  let from = 0
  for (;;) {
    const at = skipBlanks(text, from)
    const end: number | null = endOfToken(text, at)
    const sign = isPunctuation(text.charCodeAt(at)) ? text[at] : undefined
    const next: ExpectedToken | null =
      end === null ? null : expectedAfter({ sign, isText: text[at] === '"' }, expected, open)
    if (next === null || at > maxLooked) return { at, expected: words[expected] }
    expected = next
    from = end ?? text.length
  }
}

/** The end of the token at a position; null if it is no JSON token. */
function endOfToken(text: string, at: number): number | null {
  const sign = text[at]
  if (sign === undefined) return null
  if (isPunctuation(text.charCodeAt(at))) return at + 1
  if (sign === '"') return isString(text, at, endOfString(text, at)) ? endOfString(text, at) : null
  if (/\d/.test(sign) && !/[\d.eE]/.test(text[at + 1] ?? '')) return at + 1
  plain.lastIndex = at
  return plain.test(text) ? plain.lastIndex : null
}

function isPunctuation(code: number): boolean {
  return code === 0x2c || code === 0x3a || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d
}

function skipBlanks(text: string, from: number): number {
  let at = from
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break
  }
  return at
}

function isString(text: string, from: number, end: number): boolean {
  if (end - from < 2 || text[end - 1] !== '"') return false
  let at = from + 1
  while (at < end - 1) {
    const sign = text.charCodeAt(at)
    if (sign < 0x20) return false
    if (sign === 0x5c) {
      escaped.lastIndex = at
      if (!escaped.test(text)) return false
      at = escaped.lastIndex
    } else at += 1
  }
  return at === end - 1 // otherwise the last quote is escaped
}

interface JsonToken {
  readonly sign: string | undefined
  readonly isText: boolean
}

/** The tokens allowed after a token, or null if it is not allowed itself. Tracks open brackets. */
function expectedAfter(
  { sign, isText }: JsonToken,
  expected: ExpectedToken,
  open: ('{' | '[')[],
): ExpectedToken | null {
  const rest = (): ExpectedToken => (open.length === 0 ? 'nothing' : 'comma or end')
  const takesValue = expected === 'value' || expected === 'value or end'
  if (sign === '{' || sign === '[') {
    if (!takesValue) return null
    open.push(sign)
    return sign === '{' ? 'name or end' : 'value or end'
  }
  if (sign === '}' || sign === ']') {
    const isOpen = open.at(-1) === (sign === '}' ? '{' : '[')
    if (!isOpen || (expected !== 'comma or end' && !expected.endsWith('or end'))) return null
    open.pop()
    return rest()
  }
  if (sign === ',') {
    if (expected !== 'comma or end') return null
    return open.at(-1) === '{' ? 'name' : 'value'
  }
  if (sign === ':') return expected === 'colon' ? 'value' : null
  if (expected === 'name' || expected === 'name or end') return isText ? 'colon' : null
  return takesValue ? rest() : null
}

/** Where a text stops being JSON, in words: `line 2, column 5: a value was expected, and there is "}"`. */
export function jsonMistake(text: string): string {
  const { at, expected } = mistakeIn(text)
  const before = text.slice(0, at).split('\n')
  const found = at >= text.length ? 'the text ends' : `there is ${JSON.stringify(text[at])}`
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${expected} was expected, and ${found}`
}

interface Mistake {
  readonly at: number
  readonly expected: string
}

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing'

const words = {
  value: 'a value',
  'value or end': 'a value or ]',
  name: 'a name in quotes',
  'name or end': 'a name in quotes or }',
  colon: 'a colon',
  'comma or end': 'a comma or the end of what is open',
  nothing: 'the end',
} as const satisfies Record<Expected, string>

const token =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y

/** Reads tokens as the grammar of JSON allows them, until one that it does not. */
function mistakeIn(text: string): Mistake {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  token.lastIndex = 0
  for (;;) {
    const from = token.lastIndex
    const match = token.exec(text)
    const at = from + (/^[ \t\n\r]*/.exec(text.slice(from))?.[0].length ?? 0)
    const next: Expected | null = match
      ? after({ sign: match[1], isText: match[2] !== undefined }, expected, open)
      : null
    if (next === null) return { at, expected: words[expected] }
    expected = next
  }
}

interface Token {
  readonly sign: string | undefined
  readonly isText: boolean
}

/** What may come after a token, or null where the token itself may not come. Opens and closes what it does. */
function after({ sign, isText }: Token, expected: Expected, open: ('{' | '[')[]): Expected | null {
  const rest = (): Expected => (open.length === 0 ? 'nothing' : 'comma or end')
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

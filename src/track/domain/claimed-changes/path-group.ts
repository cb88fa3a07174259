import type { ReportToken } from './report-text.ts'

export function wordsOf(tokens: readonly ReportToken[]): string {
  return tokens.flatMap((token) => (token.kind === 'word' ? [token.text] : [])).join(' ')
}
export function wordAt(tokens: readonly ReportToken[], index: number): string | null {
  const token = tokens[index]
  return token?.kind === 'word' ? token.text : null
}

export function isMark(token: ReportToken | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text
}

export function isEnd(token: ReportToken | undefined): boolean {
  return token === undefined || (token.kind === 'mark' && token.text !== '(' && token.text !== '→')
}

export function sentencesOf(tokens: readonly ReportToken[]): readonly (readonly ReportToken[])[] {
  const sentences: ReportToken[][] = [[]]
  for (const token of tokens) {
    const isBreak =
      (token.kind === 'mark' && ['.', ';', '–'].includes(token.text)) ||
      (token.kind === 'word' && ['but', 'however'].includes(token.text))
    if (isBreak) sentences.push([])
    else sentences.at(-1)?.push(token)
  }
  return sentences.filter((sentence) => sentence.length > 0)
}

export interface PathGroup {
  readonly paths: readonly string[]
  /** The index after it. */
  readonly end: number
  /** The words in parentheses after its last path. */
  readonly note: readonly string[] | null
}

/** Paths in a row: "`a.ts`, `b.ts` (new) and `c.ts`". */
export function pathGroup(tokens: readonly ReportToken[], start: number): PathGroup | null {
  const paths: string[] = []
  let note: readonly string[] | null = null
  let end = start
  for (let at = start; ; ) {
    const token = tokens[at]
    if (token?.kind !== 'path') break
    paths.push(token.path)
    at += 1
    note = null
    if (isMark(tokens[at], '(')) {
      const close = tokens.findIndex((one, index) => index > at && isMark(one, ')'))
      const inside = close < 0 ? [] : tokens.slice(at + 1, close)
      if (close > 0 && !inside.some(({ kind }) => kind === 'path')) {
        note = inside.flatMap((one) => (one.kind === 'word' ? [one.text] : []))
        at = close + 1
      }
    }
    end = at
    while (
      isMark(tokens[at], ',') ||
      ['and', 'or', 'nor', 'plus', 'also', 'the', 'new'].includes(wordAt(tokens, at) ?? '')
    )
      at += 1
  }
  return paths.length === 0 ? null : { paths, end, note }
}

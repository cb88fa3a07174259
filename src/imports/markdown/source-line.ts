/** What one line of a plan in Markdown is, by its own looks. Indents are columns; a tab reaches to the next fourth. */
export type SourceLine =
  | { readonly kind: 'blank' }
  | { readonly kind: 'rule' }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | {
      readonly kind: 'task'
      readonly indent: number
      readonly mark: string
      readonly number: string | null
      readonly text: string
    }
  /** Of a list without checkboxes. */
  | {
      readonly kind: 'item'
      readonly indent: number
      readonly number: string | null
      readonly text: string
    }
  | { readonly kind: 'milestone'; readonly reached: boolean; readonly text: string }
  | { readonly kind: 'after'; readonly indent: number; readonly text: string; readonly after: string }
  | { readonly kind: 'text'; readonly indent: number; readonly text: string }

const heading = /^(#{1,6})(?: (.*))?$/
const checkbox = /^(?:[-*+]|(\d{1,9})[.)])\s+\[([^\]]?)\](?:\s+(.*))?$/
const item = /^(?:[-*+]|(\d{1,9})[.)])\s+(.+)$/
const milestone =
  /^(?:[-*+]\s+)?(?:\[([ xX])\]\s+)?(?:\*\*milestone:?\*\*:?|__milestone:?__:?|milestone:)\s*(.*)$/i
const after = /^(?:[-*+]\s+)?\(?(?:after|depends on):\s*(.*?)\)?$/i

/** No title is as long, in characters, and looking for signs in a line takes longer than it is long. */
const longest = 4_000

export function sourceLine(line: string): SourceLine {
  const { indent, text } = indented(line)
  if (text === '') return { kind: 'blank' }
  if (text.length > longest) return { kind: 'text', indent, text }
  if (/^([-*_])(?:\s*\1){2,}$/.test(text)) return { kind: 'rule' }
  const head = indent < 4 ? heading.exec(text.replace(/\s+/g, ' ')) : null
  if (head)
    return { kind: 'heading', level: head[1]?.length ?? 1, text: head[2]?.replace(/(?:^| )#+$/, '') ?? '' }
  const goal = milestone.exec(text)
  if (goal) return { kind: 'milestone', reached: (goal[1] ?? ' ') !== ' ', text: goal[2] ?? '' }
  const box = checkbox.exec(text)
  if (box) {
    const [, number = null, mark = '', title = ''] = box
    return { kind: 'task', indent, mark, number, text: title.trim() }
  }
  const dependencies = after.exec(text)
  if (dependencies && indent > 0) return { kind: 'after', indent, text, after: dependencies[1] ?? '' }
  const entry = item.exec(text)
  if (entry) return { kind: 'item', indent, number: entry[1] ?? null, text: entry[2] ?? '' }
  return { kind: 'text', indent, text }
}

export function indented(line: string): { readonly indent: number; readonly text: string } {
  let indent = 0
  for (const sign of line) {
    if (sign === '\t') indent += 4 - (indent % 4)
    else if (sign === ' ') indent += 1
    else break
  }
  return { indent, text: line.trim() }
}

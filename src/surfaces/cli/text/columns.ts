/** Two columns: a name, and a text that is wrapped beside it. */
export function twoColumns(
  rows: readonly (readonly [string, string])[],
  { width, indent = 2 }: { readonly width: number; readonly indent?: number },
): string {
  const widest = Math.min(Math.max(0, ...rows.map(([name]) => name.length)), 34)
  const start = indent + widest + 2
  return rows.map(([name, text]) => row({ name, text, start, indent, width })).join('\n')
}

function row(at: {
  readonly name: string
  readonly text: string
  readonly start: number
  readonly indent: number
  readonly width: number
}): string {
  const lines = wrap(at.text, Math.max(20, at.width - at.start))
  const name = `${' '.repeat(at.indent)}${at.name}`
  const head = name.length > at.start - 2 ? `${name}\n${' '.repeat(at.start)}` : name.padEnd(at.start)
  return `${head}${lines.join(`\n${' '.repeat(at.start)}`)}`.trimEnd()
}

/** Breaks a text between words; a longer word stays whole. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + word.length + 1 <= width)
      lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

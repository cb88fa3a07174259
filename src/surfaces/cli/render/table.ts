import { stripVTControlCharacters } from 'node:util'
import Table from 'cli-table3'
import type { Ink } from '../terminal.ts'

export interface TableColumn {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Wraps its text on a narrow terminal. */
  readonly shrinks?: boolean
}

const gap = 2

/** Rows in columns without lines, at most as wide as the terminal, without empty columns. Empty without rows. */
export function table(
  allColumns: readonly TableColumn[],
  allRows: readonly (readonly string[])[],
  { width, ink }: { readonly width: number; readonly ink: Ink },
): string {
  if (allRows.length === 0) return ''
  const isFilled = allColumns.map((_, at) => allRows.some((row) => row[at] !== ''))
  const columns = allColumns.filter((_, at) => isFilled[at])
  const rows = allRows.map((row) => row.filter((_, at) => isFilled[at]))
  const colWidths = columnWidths(columns, rows, width)
  const table = new Table({
    head: columns.map(({ title }) => ink('dim', title)),
    chars: bare,
    style: { 'padding-left': 0, 'padding-right': gap, head: [], border: [] },
    colAligns: columns.map(({ align }) => align ?? 'left'),
    colWidths,
    wordWrap: true,
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

function columnWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): number[] {
  const natural = columns.map(
    ({ title }, at) => Math.max(title.length, ...rows.map((row) => visibleLength(row[at] ?? ''))) + gap,
  )
  const excess = natural.reduce((sum, each) => sum + each, 0) - width
  if (excess <= 0) return natural
  const shrinking = columns.flatMap(({ shrinks }, at) => (shrinks ? [natural[at] ?? 0] : []))
  const total = shrinking.reduce((sum, each) => sum + each, 0)
  return natural.map((each, at) =>
    columns[at]?.shrinks ? Math.max(12, Math.floor(each - (excess * each) / total)) : each,
  )
}

/** The width of a text in cells: colors take none, East Asian characters two. */
function visibleLength(text: string): number {
  const lines = stripVTControlCharacters(text).split('\n')
  return Math.max(
    ...lines.map((line) => [...segmenter.segment(line)].length + (line.match(wide)?.length ?? 0)),
  )
}

const segmenter = new Intl.Segmenter()
const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}]/gu

const bare = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
)

/** Two columns: a name and a wrapped text. */
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

/** Wraps a text between words; long words stay whole. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + word.length + 1 <= width)
      lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

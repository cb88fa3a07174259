/** A line of a difference, as answers of operations spell it. */
export interface ReviewLine {
  readonly kind: ' ' | '+' | '-'
  readonly old?: number | undefined
  readonly new?: number | undefined
  readonly text: string
  /** Whose line it is, by the attempt's id. */
  readonly attempt?: string | null | undefined
}

export interface ReviewHunk {
  readonly old_start: number
  readonly new_start: number
  readonly lines: readonly ReviewLine[]
}

/** A line beside its other side, or one side alone. An unchanged line is on both. */
export interface LineRow {
  readonly kind: 'line'
  /** `n12` for line 12 of the new side, `o12` for one that only the old side has. */
  readonly key: string
  readonly old: ReviewLine | null
  readonly new: ReviewLine | null
  /** The line of the other side that it took the place of, or was replaced by; for the words within. */
  readonly partner: ReviewLine | null
  /** The first changed line after an unchanged one: where a jump to the next change lands. */
  readonly begins: boolean
}

/** Unchanged lines that are not shown. */
interface GapRow {
  readonly kind: 'gap'
  readonly key: string
  /** How many; null where nobody knows, as after the last change. */
  readonly hidden: number | null
}

export type ReviewRow = LineRow | GapRow

export type Layout = 'unified' | 'split'

/** What is drawn, in order. */
export function reviewRows(hunks: readonly ReviewHunk[], layout: Layout): readonly ReviewRow[] {
  const rows: ReviewRow[] = []
  let next = 1
  for (const hunk of hunks) {
    const first = hunk.lines.find((line) => line.new !== undefined)?.new ?? hunk.new_start
    if (first > next) rows.push({ kind: 'gap', key: `gap ${next}`, hidden: first - next })
    for (const row of rowsOf(hunk.lines, layout)) rows.push(row)
    next = (hunk.lines.findLast((line) => line.new !== undefined)?.new ?? first - 1) + 1
  }
  return rows
}

function rowsOf(lines: readonly ReviewLine[], layout: Layout): readonly LineRow[] {
  const rows: LineRow[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at]
    if (line === undefined) break
    if (line.kind === ' ') {
      rows.push({ kind: 'line', key: keyOf(line), old: line, new: line, partner: null, begins: false })
      at += 1
      continue
    }
    const run: ReviewLine[] = []
    for (; at < lines.length && lines[at]?.kind !== ' '; at += 1) run.push(lines[at] ?? line)
    const removed = run.filter(({ kind }) => kind === '-')
    const added = run.filter(({ kind }) => kind === '+')
    rows.push(...(layout === 'split' ? splitRows(removed, added) : unifiedRows(removed, added)))
  }
  return rows
}

function unifiedRows(removed: readonly ReviewLine[], added: readonly ReviewLine[]): readonly LineRow[] {
  return [
    ...removed.map((line, at) =>
      rowOf({ old: line, new: null, partner: added[at] ?? null, begins: at === 0 }),
    ),
    ...added.map((line, at) =>
      rowOf({ old: null, new: line, partner: removed[at] ?? null, begins: at === 0 && removed.length === 0 }),
    ),
  ]
}

function splitRows(removed: readonly ReviewLine[], added: readonly ReviewLine[]): readonly LineRow[] {
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, at) =>
    rowOf({ old: removed[at] ?? null, new: added[at] ?? null, partner: null, begins: at === 0 }),
  )
}

function rowOf(row: Omit<LineRow, 'kind' | 'key'>): LineRow {
  const line = row.new ?? row.old
  return { kind: 'line', key: line === null ? '' : keyOf(line), ...row }
}

function keyOf(line: ReviewLine): string {
  return line.kind === '-' ? `o${line.old ?? 0}` : `n${line.new ?? 0}`
}

/** Rows of one block: few enough to draw two within a frame. */
const blockLength = 20

/** The rows in blocks, of which only those near the window are drawn. */
export function blocksOf(rows: readonly ReviewRow[]): readonly (readonly ReviewRow[])[] {
  return Array.from({ length: Math.ceil(rows.length / blockLength) }, (_, at) =>
    rows.slice(at * blockLength, (at + 1) * blockLength),
  )
}

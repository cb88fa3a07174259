import { align } from '../../lines/domain/alignment.ts'
import { type DiffSide, maxQuoteLength } from './review.ts'

/** A line of a diff. Line numbers start at 1. */
export interface DiffLine {
  readonly kind: ' ' | '+' | '-'
  readonly old?: number
  readonly new?: number
  readonly text: string
}

export interface Hunk {
  readonly oldStart: number
  readonly newStart: number
  readonly lines: readonly DiffLine[]
}

/** The lines of a text, without their ends. A text that ends with a line feed has no empty line after it. */
export function splitTextLines(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Lines for comparison. As in git, a last line without a line feed differs from the same line with one. */
export function comparedLines(text: string, ignoreSpace = false): readonly string[] {
  const lines = splitTextLines(text)
  if (ignoreSpace) return lines.map(withoutWhitespace)
  return text === '' || text.endsWith('\n') ? lines : [...lines.slice(0, -1), `${lines.at(-1)}\n`]
}

function withoutWhitespace(line: string): string {
  return line.replace(/\s+/g, '')
}

/** All lines of both texts in reading order, removed ones before the added ones. */
export function mergedLines(oldText: string, newText: string, ignoreSpace = false): readonly DiffLine[] {
  const pairs = align(comparedLines(oldText, ignoreSpace), comparedLines(newText, ignoreSpace))
  const [before, after] = [splitTextLines(oldText), splitTextLines(newText)]
  const lines: DiffLine[] = []
  let next = 0
  const addUpTo = (end: number) => {
    for (; next < end; next += 1) lines.push({ kind: '+', new: next + 1, text: after[next] ?? '' })
  }
  let removed: DiffLine[] = []
  // Pushed one by one, as the number of arguments of a call is limited.
  const takeRemoved = () => {
    for (const line of removed) lines.push(line)
    removed = []
  }
  for (const [at, text] of before.entries()) {
    const to = pairs[at] ?? -1
    if (to < 0) {
      removed.push({ kind: '-', old: at + 1, text })
      continue
    }
    takeRemoved()
    addUpTo(to)
    lines.push({ kind: ' ', old: at + 1, new: to + 1, text: after[to] ?? text })
    next = to + 1
  }
  takeRemoved()
  addUpTo(after.length)
  return lines
}

export function countLines(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  let [added, removed] = [0, 0]
  for (const { kind } of lines) {
    if (kind === '+') added += 1
    else if (kind === '-') removed += 1
  }
  return { added, removed }
}

/** The changed lines with their context lines. */
export function hunksOf(lines: readonly DiffLine[], context: number | null): readonly Hunk[] {
  if (context === null) return lines.length === 0 ? [] : [hunk(lines)]
  const hunks: Hunk[] = []
  let from = -1
  let until = -1
  for (const [at, { kind }] of lines.entries()) {
    if (kind === ' ') continue
    if (from >= 0 && at - context > until) {
      hunks.push(hunk(lines.slice(from, until)))
      from = -1
    }
    if (from < 0) from = Math.max(0, at - context)
    until = Math.min(lines.length, at + context + 1)
  }
  if (from >= 0) hunks.push(hunk(lines.slice(from, until)))
  return hunks
}

function hunk(lines: readonly DiffLine[]): Hunk {
  return {
    oldStart: lines.find((line) => line.old !== undefined)?.old ?? 0,
    newStart: lines.find((line) => line.new !== undefined)?.new ?? 0,
    lines,
  }
}

/** The number of a line in a later text, or null if it is gone. */
export function followLine(
  line: number,
  { from, to }: { readonly from: readonly string[]; readonly to: readonly string[] },
): number | null {
  const place = align(from, to)[line - 1] ?? -1
  return place < 0 ? null : place + 1
}

/** The number of the only line that equals a quoted one; null if there is none, or several. */
export function uniqueLineIndex(line: string, lines: readonly string[]): number | null {
  // The quote of a long line is cut.
  const quoted = line.length === maxQuoteLength && line.endsWith('…') ? line.slice(0, -1) : line
  const first = lines.findIndex((line) => line.startsWith(quoted))
  if (first < 0 || lines.some((line, at) => at > first && line.startsWith(quoted))) return null
  return first + 1
}

/** The lines of a file before and after a step; `by` is null for changes by others in between. */
export interface FileStep {
  readonly author: string | null
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** The authors of the lines added in the last state and removed from the first, by side and line number from 1. */
export function authorsOfSteps(
  steps: readonly FileStep[],
): Readonly<Record<DiffSide, ReadonlyMap<number, string>>> {
  const removers = new Map<number, string>()
  const [first] = steps
  if (first === undefined) return { old: removers, new: new Map() }
  // For each line of the current state, its index in the first state (or -1) and its author.
  let state = first.before.map((_, origin): { readonly origin: number; readonly author: string | null } => ({
    origin,
    author: null,
  }))
  for (const { author, before, after } of steps) {
    const pairs = align(before, after)
    const next = after.map((): (typeof state)[number] => ({ origin: -1, author }))
    for (const [at, line] of state.entries()) {
      const to = pairs[at] ?? -1
      if (to >= 0) next[to] = line
      else if (line.origin >= 0 && author !== null) removers.set(line.origin + 1, author)
    }
    state = next
  }
  const makers = new Map(
    state.flatMap(({ origin, author }, at) =>
      origin < 0 && author !== null ? [[at + 1, author] as const] : [],
    ),
  )
  return { old: removers, new: makers }
}

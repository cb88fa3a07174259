import { diffArrays } from 'diff'

export interface LineCounts {
  readonly added: number
  readonly deleted: number
}

// Beyond this many moved lines the search would take seconds.
const MOST_EDITS = 3_000

/** Counts added and deleted lines between two texts. Null when finding out would take too long. */
export function lineCounts(before: string, after: string): LineCounts | null {
  const old = linesOf(before)
  const now = linesOf(after)
  // A line that only one side has is added or deleted for sure; the search is among the others.
  const inOld = new Set(old)
  const inNow = new Set(now)
  const parts = diffArrays(
    old.filter((line) => inNow.has(line)),
    now.filter((line) => inOld.has(line)),
    { maxEditLength: MOST_EDITS },
  )
  if (parts === undefined) return null
  const kept = parts.reduce((sum, part) => (part.added || part.removed ? sum : sum + part.value.length), 0)
  return { added: now.length - kept, deleted: old.length - kept }
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  const last = lines.pop()
  // The last line without a newline is another line than the same with one.
  return last === undefined || last === '' ? lines : [...lines, `${last}\0`]
}

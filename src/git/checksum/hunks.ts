import { type StructuredPatchHunk, structuredPatch } from 'diff'

// Beyond this many added and deleted lines the comparison would take seconds.
const MOST_EDITS = 4_000

/** How two texts differ, with three lines of context. Null when they differ too much to be worth comparing. */
export function hunksOf(before: string, after: string): readonly StructuredPatchHunk[] | null {
  if (before === '' || after === '') return wholeHunk(before, after)
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: MOST_EDITS })
  return patch?.hunks ?? null
}

/** The hunks as text, each line ended. */
export function hunkText(hunks: readonly StructuredPatchHunk[]): string {
  return hunks
    .map((hunk) => {
      const old = range(hunk.oldStart, hunk.oldLines)
      const now = range(hunk.newStart, hunk.newLines)
      return `@@ -${old} +${now} @@\n${hunk.lines.map((line) => `${line}\n`).join('')}`
    })
    .join('')
}

// A new or deleted file needs no search.
function wholeHunk(before: string, after: string): readonly StructuredPatchHunk[] {
  if (before === after) return []
  const lines = (before || after).split('\n')
  const ended = lines.at(-1) === ''
  if (ended) lines.pop()
  const sign = before === '' ? '+' : '-'
  const marked = lines.map((line) => `${sign}${line}`)
  const count = lines.length
  return [
    {
      oldStart: before === '' ? 0 : 1,
      oldLines: before === '' ? 0 : count,
      newStart: after === '' ? 0 : 1,
      newLines: after === '' ? 0 : count,
      lines: ended ? marked : [...marked, '\\ No newline at end of file'],
    },
  ]
}

function range(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${start},${lines}`
}

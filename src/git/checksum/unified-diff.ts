import { displayPath, pathBytes, quotePath } from '../path-bytes.ts'
import { compare, type Difference, pathOf } from './compare.ts'
import type { Entry } from './entry.ts'
import { hunksOf, hunkText } from './hunks.ts'
import { withRenames } from './renames.ts'
import { type StoredScan, storedScan, textOf } from './stored-scan.ts'

/** The unified diff between two scans, in git's form; of some paths (old or new names) when given. Null when it is lost. */
export function unifiedDiffBetween(from: string, to: string, paths?: readonly string[]): string | null {
  const before = storedScan(from)
  const after = storedScan(to)
  if (before === null || after === null) return null
  const differences = withRenames(compare(before.manifest, after.manifest).differences)
  if (paths === undefined) return differences.map((one) => fileDiff(one, before, after).text).join('')
  const wanted = new Set(paths.map(pathBytes))
  const found = differences.filter((one) => wanted.has(pathOf(one)) || wanted.has(one.before?.path ?? ''))
  const diffs = found.map((one) => fileDiff(one, before, after))
  return diffs.every(({ complete }) => complete) ? diffs.map(({ text }) => text).join('') : null
}

interface FileDiff {
  readonly text: string
  /** The contents of both sides are kept, or are the same. */
  readonly complete: boolean
}

function fileDiff(difference: Difference, from: StoredScan, to: StoredScan): FileDiff {
  const { before, after } = difference
  const old = name('a/', before ?? after)
  const now = name('b/', after ?? before)
  const head = [`diff --git ${old} ${now}`, ...modeLines(difference)].map((line) => `${line}\n`).join('')
  if (before !== null && after !== null && before.hash !== null && before.hash === after.hash) {
    return { text: head, complete: true }
  }
  const oldText = textOf(from, before)
  const newText = textOf(to, after)
  const hunks = oldText === null || newText === null ? null : hunksOf(oldText, newText)
  const oldName = before === null ? '/dev/null' : old
  const newName = after === null ? '/dev/null' : now
  if (hunks === null)
    return { text: `${head}Binary files ${oldName} and ${newName} differ\n`, complete: false }
  if (hunks.length === 0) return { text: head, complete: true }
  return { text: `${head}--- ${oldName}\n+++ ${newName}\n${hunkText(hunks)}`, complete: true }
}

function modeLines({ before, after }: Difference): readonly string[] {
  if (before === null) return [`new file mode ${after.mode}`]
  if (after === null) return [`deleted file mode ${before.mode}`]
  const modes = before.mode === after.mode ? [] : [`old mode ${before.mode}`, `new mode ${after.mode}`]
  if (before.path === after.path) return modes
  return [
    ...modes,
    'similarity index 100%',
    `rename from ${name('', before)}`,
    `rename to ${name('', after)}`,
  ]
}

// Quoted where git quotes: names with control characters, quotes or backslashes.
function name(side: string, entry: Entry | null): string {
  const path = `${side}${entry?.path ?? ''}`
  const text = displayPath(path)
  return /["\\\p{Cc}]/u.test(text) ? quotePath(path) : text
}

import type { PathBytes } from '../path-bytes.ts'
import type { Difference } from './compare.ts'
import { type Entry, entryType } from './entry.ts'

/** Joins a deletion and an addition of the same content to a rename. Files of the same name are joined first. */
export function withRenames(differences: readonly Difference[]): readonly Difference[] {
  const sources = new Map<string, Entry[]>()
  for (const { before, after } of differences) {
    if (after !== null || !isTraceable(before)) continue
    const key = contentKey(before)
    sources.set(key, [...(sources.get(key) ?? []), before])
  }
  const renamed = new Map<Entry, Entry>()
  for (const sameName of [true, false]) {
    for (const { before, after } of differences) {
      if (before !== null || !isTraceable(after) || renamed.has(after)) continue
      const candidates = sources.get(contentKey(after)) ?? []
      const at = candidates.findIndex((source) => !sameName || baseName(source.path) === baseName(after.path))
      const [source] = at < 0 ? [] : candidates.splice(at, 1)
      if (source !== undefined) renamed.set(after, source)
    }
  }
  const gone = new Set(renamed.values())
  return differences
    .filter(({ before, after }) => after !== null || !gone.has(before))
    .map((difference) => {
      const source = difference.before === null ? renamed.get(difference.after) : undefined
      return source === undefined || difference.after === null
        ? difference
        : { before: source, after: difference.after }
    })
}

// Empty files are all alike: that two of them are the same one says nothing.
function isTraceable({ hash, size }: Entry): boolean {
  return hash !== null && size > 0
}

function contentKey({ mode, hash }: Entry): string {
  return `${entryType(mode)} ${hash}`
}

function baseName(path: PathBytes): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

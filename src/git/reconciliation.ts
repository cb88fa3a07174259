import type { IgnoredChanges } from '../domain/track/changes.ts'
import { type Difference, sameState } from './comparison.ts'
import type { Span } from './differences.ts'
import { CarefulDisk, rawBlobId, sameStat } from './disk.ts'
import { displayPath, type PathBytes } from './path-bytes.ts'
import type { IgnoredFile, RepositoryState, WorkTreeState } from './state.ts'

/** What is left to report once ignore rules that came or went are taken out. */
export interface Reconciled {
  readonly differences: readonly Difference[]
  readonly ignored: IgnoredChanges
  readonly notes: readonly string[]
  /** Paths whose state could not be compared exactly, with the reason. */
  readonly uncertain: ReadonlyMap<PathBytes, string>
}

/**
 * A file that became ignored did not vanish, and one that is ignored no longer did not appear. Both are told by
 * their content, or by their times where they lay in an ignored folder that nobody looked into.
 */
export function reconcileIgnored(span: Span, compared: Iterable<Difference>): Reconciled {
  const before = ignoredFiles(span.from)
  const after = ignoredFiles(span.to)
  const disk = new CarefulDisk(span.to.top)
  const differences: Difference[] = []
  const notes: string[] = []
  const uncertain = new Map<PathBytes, string>()
  const modified: PathBytes[] = []
  const settled = new Set<PathBytes>()
  for (const difference of compared) {
    if (sameState(difference.before, difference.after)) continue
    const { path } = difference
    const hidden = difference.after === null ? hiddenNow(path, { span, after, disk }) : null
    const shown = difference.before === null ? before.get(path) : undefined
    if (hidden !== null && difference.before !== null) {
      settled.add(path)
      notes.push(`${displayPath(path)} is ignored now; it is still on disk.`)
      if (!matches(difference.before, hidden)) modified.push(path)
    } else if (shown !== undefined && difference.after !== null) {
      settled.add(path)
      notes.push(`${displayPath(path)} was ignored before; it existed at the start.`)
      if (!matches(difference.after, shown)) differences.push({ ...difference, before: unread(shown) })
    } else if (difference.before === null && isInFolder(path, span.from)) {
      const file = disk.file(path)
      if (file !== null && file.stat.changed < span.from.takenAt) {
        notes.push(`${displayPath(path)} was in an ignored folder before; it existed at the start.`)
      } else {
        uncertain.set(path, 'It was in an ignored folder at the start, so it may have existed before.')
        differences.push(difference)
      }
    } else differences.push(difference)
  }
  const bucket = compareIgnored(span, { before, after, settled })
  return {
    differences,
    ignored: { ...bucket, modified: [...bucket.modified, ...modified].map(displayPath).sort() },
    notes,
    uncertain,
  }
}

interface After {
  readonly span: Span
  readonly after: ReadonlyMap<PathBytes, IgnoredFile>
  readonly disk: CarefulDisk
}

function hiddenNow(path: PathBytes, { span, after, disk }: After): IgnoredFile | null {
  const known = after.get(path)
  if (known !== undefined) return known
  if (!isInFolder(path, span.to)) return null
  const file = disk.file(path)
  if (file === null) return null
  return { mode: file.mode, oid: rawBlobId(span.to.objectFormat, span.to.top, path), stat: file.stat }
}

function compareIgnored(
  span: Span,
  {
    before,
    after,
    settled,
  }: { before: Map<string, IgnoredFile>; after: Map<string, IgnoredFile>; settled: Set<string> },
): IgnoredChanges {
  const added = [...after.keys()].filter((path) => {
    return (
      !before.has(path) &&
      !settled.has(path) &&
      !isInFolder(path, span.from) &&
      !existedAsFile(path, span.from)
    )
  })
  const deleted = [...before.keys()].filter((path) => {
    return (
      !after.has(path) && !settled.has(path) && !isInFolder(path, span.to) && !existedAsFile(path, span.to)
    )
  })
  const modified = [...after].flatMap(([path, file]) => {
    const earlier = before.get(path)
    return earlier === undefined || sameIgnored(earlier, file) ? [] : [path]
  })
  return { added: added.map(displayPath).sort(), modified, deleted: deleted.map(displayPath).sort() }
}

function existedAsFile(path: PathBytes, state: WorkTreeState): boolean {
  return state.repositories.some(({ prefix, overlay }) => {
    return path.startsWith(prefix) && overlay.get(path.slice(prefix.length))?.disk != null
  })
}

function sameIgnored(a: IgnoredFile, b: IgnoredFile): boolean {
  return a.mode === b.mode && (a.oid !== null && b.oid !== null ? a.oid === b.oid : sameStat(a.stat, b.stat))
}

function matches(state: NonNullable<Difference['before']>, file: IgnoredFile): boolean {
  if (state.oid !== null && file.oid !== null && state.oid === file.oid) return true
  return state.stat !== undefined && sameStat(state.stat, file.stat)
}

function unread({ mode, oid, stat }: IgnoredFile): NonNullable<Difference['before']> {
  return { mode, oid, stat, unkept: true }
}

function ignoredFiles(state: WorkTreeState): Map<PathBytes, IgnoredFile> {
  return new Map(state.repositories.flatMap(ignoredIn))
}

function ignoredIn({ prefix, ignoredFiles }: RepositoryState): [PathBytes, IgnoredFile][] {
  return [...ignoredFiles].map(([path, file]) => [prefix + path, file])
}

function isInFolder(path: PathBytes, state: WorkTreeState): boolean {
  return state.repositories.some(({ prefix, ignoredFolders }) => {
    return ignoredFolders.some((folder) => path.startsWith(prefix + folder))
  })
}

import type { PathBytes } from '../path-bytes.ts'
import { type Entry, entryType, sameStat } from './entry.ts'
import type { Manifest } from './manifest.ts'

/** A path that differs: at least one side is there. With two different paths it is a rename. */
export type Difference =
  | { readonly before: Entry; readonly after: Entry }
  | { readonly before: Entry; readonly after: null }
  | { readonly before: null; readonly after: Entry }

export interface Comparison {
  /** In the order of their paths. */
  readonly differences: readonly Difference[]
  /** Of files that an ignore rule leaves out on both sides, or on the only one. */
  readonly ignored: readonly Difference[]
  readonly nowIgnored: readonly PathBytes[]
  readonly noLongerIgnored: readonly PathBytes[]
  /** Folders and files that could not be looked at on one side or both: what changed there is unknown. */
  readonly unreadable: readonly PathBytes[]
}

/** Compares the states of all paths of two scans. Renames stay an addition and a deletion. */
export function compare(from: Manifest, to: Manifest): Comparison {
  const differences: Difference[] = []
  const ignored: Difference[] = []
  const nowIgnored: PathBytes[] = []
  const noLongerIgnored: PathBytes[] = []
  const unreadable = unreadablePaths(from, to)
  const isHidden = (path: PathBytes): boolean =>
    unreadable.some((hidden) => path === hidden || path.startsWith(`${hidden}/`))
  for (const difference of differencesOf(from, to)) {
    const { before, after } = difference
    const path = pathOf(difference)
    if (isHidden(path)) continue
    const leftOut = (after ?? before).ignored === true
    if (after === null && !leftOut && isBelow(path, to.ignoredFolders)) nowIgnored.push(path)
    else if (before === null && !leftOut && wasHidden(after, from)) noLongerIgnored.push(path)
    else if (before !== null && after !== null && before.ignored !== after.ignored) {
      ;(leftOut ? nowIgnored : noLongerIgnored).push(path)
      if (!sameState(before, after)) differences.push(difference)
    } else (leftOut ? ignored : differences).push(difference)
  }
  return { differences, ignored, nowIgnored, noLongerIgnored, unreadable }
}

export function pathOf({ before, after }: Difference): PathBytes {
  return after === null ? before.path : after.path
}

/** Why a difference may be none, or may be another one. */
export function problemOf({ before, after }: Difference): string | undefined {
  const problem = after?.problem ?? before?.problem
  if (problem !== undefined || before === null || after === null) return problem
  const inexact = before.mode === after.mode && (before.hash === null || after.hash === null)
  return inexact ? 'Its content was too much to read: it was compared by size and times.' : undefined
}

function differencesOf(from: Manifest, to: Manifest): readonly Difference[] {
  const left = new Map(from.entries.map((entry) => [entry.path, entry]))
  const found: Difference[] = []
  for (const after of to.entries) {
    const before = left.get(after.path) ?? null
    left.delete(after.path)
    if (before === null) found.push({ before, after })
    else if (before.ignored !== after.ignored || !sameState(before, after)) found.push({ before, after })
  }
  for (const before of left.values()) found.push({ before, after: null })
  return found.sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))
}

function sameState(a: Entry, b: Entry): boolean {
  if (a.mode !== b.mode) return false
  if (a.hash !== null && b.hash !== null) return a.hash === b.hash
  const special = entryType(a.mode) !== '100644' && a.mode !== '120000'
  return special || sameStat(a, b)
}

function unreadablePaths(from: Manifest, to: Manifest): readonly PathBytes[] {
  const found = [...from.entries, ...to.entries]
    .filter(({ mode }) => mode === 'unreadable')
    .map(({ path }) => path)
  return [...new Set(found)]
}

// A file that was there before, unchanged since, behind a rule that is gone now. Scans know whole milliseconds.
function wasHidden(after: Entry, from: Manifest): boolean {
  return isBelow(after.path, from.ignoredFolders) && Math.floor(after.changed) <= from.scannedAt
}

function isBelow(path: PathBytes, folders: readonly PathBytes[]): boolean {
  return folders.some((folder) => path.startsWith(folder))
}

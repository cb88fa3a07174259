import { diffArrays, type StructuredPatchHunk, structuredPatch } from 'diff'
import type { ChangeKind, ChangeReport, FileChange, IgnoredChanges } from '../../domain/track/changes.ts'
import { displayPath, type PathBytes, pathBytes, quotePath } from '../paths.ts'
import {
  type Entry,
  entryType,
  type Manifest,
  type StoredScan,
  sameStat,
  storedScan,
  textOf,
} from './manifest.ts'

/** What differs between two scans, given by their private directories. A lost one answers `unknown`. */
export function changesBetween(from: string, to: string): ChangeReport {
  const before = storedScan(from)
  const after = storedScan(to)
  if (before === null)
    return unknown('The snapshot from the start is lost or damaged: what changed since is not known.')
  if (after === null)
    return unknown('The snapshot from the end is lost or damaged: what changed is not known.')
  const comparison = compare(before.manifest, after.manifest)
  const changes = withRenames(comparison.differences).map((difference) =>
    fileChange(difference, before, after),
  )
  const doubts = doubtsOf(comparison, changes)
  return {
    status: doubts.length === 0 ? 'verified' : 'partial',
    changes,
    ignored: ignoredChanges(comparison.ignored),
    headMoves: [],
    notes: [...after.manifest.notes, ...ruleNotes(comparison)],
    doubts,
  }
}

/** The paths that differ between two scans, without renames; null when one of them is lost. */
export function touchedBetween(from: string, to: string): readonly string[] | null {
  const before = storedScan(from)
  const after = storedScan(to)
  if (before === null || after === null) return null
  return compare(before.manifest, after.manifest).differences.map((difference) =>
    displayPath(pathOf(difference)),
  )
}

function fileChange(difference: Difference, from: StoredScan, to: StoredScan): FileChange {
  const { before, after } = difference
  const change = changeKind(difference)
  const problem = problemOf(difference)
  const lines = countLines(difference, from, to)
  const typeChanged = before !== null && after !== null && entryType(before.mode) !== entryType(after.mode)
  return {
    path: displayPath(pathOf(difference)),
    ...(change === 'renamed' && before !== null ? { from: displayPath(before.path) } : {}),
    change,
    ...(typeChanged ? { typeChanged } : {}),
    origin: 'task',
    addedLines: lines?.added ?? null,
    deletedLines: lines?.deleted ?? null,
    ...(problem === undefined ? {} : { uncertain: problem }),
  }
}

function changeKind({ before, after }: Difference): ChangeKind {
  if (before === null) return 'added'
  if (after === null) return 'deleted'
  return before.path === after.path ? 'modified' : 'renamed'
}

function countLines({ before, after }: Difference, from: StoredScan, to: StoredScan): LineCounts | null {
  if (before !== null && after !== null && before.hash !== null && before.hash === after.hash)
    return { added: 0, deleted: 0 }
  const old = textOf(from, before)
  const now = textOf(to, after)
  return old === null || now === null ? null : lineCounts(old, now)
}

function doubtsOf({ unreadable }: Comparison, changes: readonly FileChange[]): readonly string[] {
  const hidden = unreadable.map((path) => {
    return `${displayPath(path)} could not be looked at: what changed there is not known.`
  })
  const files = changes.flatMap(({ path, uncertain }) =>
    uncertain === undefined ? [] : [`${path}: ${uncertain}`],
  )
  return [...hidden, ...files]
}

function ignoredChanges(differences: readonly Difference[]): IgnoredChanges {
  const pathsOf = (kind: ChangeKind): readonly string[] =>
    differences
      .filter((difference) => changeKind(difference) === kind)
      .map((found) => displayPath(pathOf(found)))
  return { added: pathsOf('added'), modified: pathsOf('modified'), deleted: pathsOf('deleted') }
}

function ruleNotes({ nowIgnored, noLongerIgnored }: Comparison): readonly string[] {
  return [
    ...named(nowIgnored, 'is ignored now and was not before: that it left the list is no deletion.'),
    ...named(noLongerIgnored, 'was ignored before and is not now: that it joined the list is no addition.'),
  ]
}

const NAMED = 20

function named(paths: readonly PathBytes[], sentence: string): readonly string[] {
  const notes = paths.slice(0, NAMED).map((path) => `${displayPath(path)} ${sentence}`)
  return paths.length > NAMED ? [...notes, `The same holds for ${paths.length - NAMED} more files.`] : notes
}

function unknown(doubt: string): ChangeReport {
  const ignored = { added: [], modified: [], deleted: [] }
  return { status: 'unknown', changes: [], ignored, headMoves: [], notes: [], doubts: [doubt] }
}

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
function compare(from: Manifest, to: Manifest): Comparison {
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

function pathOf({ before, after }: Difference): PathBytes {
  return after === null ? before.path : after.path
}

/** Why a difference may be none, or may be another one. */
function problemOf({ before, after }: Difference): string | undefined {
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

/** Joins a deletion and an addition of the same content to a rename. Files of the same name are joined first. */
function withRenames(differences: readonly Difference[]): readonly Difference[] {
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

// Beyond this many added and deleted lines the comparison would take seconds.
const MOST_DIFF_EDITS = 4_000

/** How two texts differ, with three lines of context. Null when they differ too much to be worth comparing. */
export function hunksOf(before: string, after: string): readonly StructuredPatchHunk[] | null {
  if (before === '' || after === '') return wholeHunk(before, after)
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: MOST_DIFF_EDITS })
  return patch?.hunks ?? null
}

/** The hunks as text, each line ended. */
function hunkText(hunks: readonly StructuredPatchHunk[]): string {
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

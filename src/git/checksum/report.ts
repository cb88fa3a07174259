import type { ChangeKind, ChangeReport, FileChange, IgnoredChanges } from '../../domain/track/changes.ts'
import { displayPath, type PathBytes } from '../path-bytes.ts'
import { type Comparison, compare, type Difference, pathOf, problemOf } from './compare.ts'
import { entryType } from './entry.ts'
import { type LineCounts, lineCounts } from './line-counts.ts'
import { withRenames } from './renames.ts'
import { type StoredScan, storedScan, textOf } from './stored-scan.ts'

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

import { align } from './alignment.ts'
import { applyEdits, contentOfLines, linesWithFeeds, type UndoMerge, undoMerge } from './undo-merge.ts'
import type { UndoStep } from './undo-steps.ts'

/** A file as it was or is: its mode as git writes it, and its bytes as latin1. */
export interface UndoVersion {
  readonly mode: string
  /** Null if it was not kept. */
  readonly content: string | null
}

/** A file that the undone work changed. */
export interface UndoneFile {
  /** Its path at the end, and at the start. */
  readonly path: string
  readonly from: string
  /** Its present path, as far as later renames are recorded. */
  readonly pathNow: string
  /** Its recorded changes, one after the other; null if the record does not have all of them. */
  readonly steps: readonly UndoStep[] | null
  /** Its whole change from the start to the end is certainly that of the undone work. */
  readonly isWholeOwn: boolean
  readonly isOwnRename: boolean
  readonly isOwnArrival: boolean
  readonly isOwnRemoval: boolean
}

export const stayReasons = ['uncertain', 'between', 'others', 'not_kept', 'repository', 'converted'] as const
export type StayReason = (typeof stayReasons)[number]

/** What it says of a file. */
export const stayWords: Readonly<Record<StayReason, string>> = {
  uncertain: 'not certainly the work of the task or turn',
  between: 'others wrote them between the undone lines',
  others: 'others wrote them',
  not_kept: 'its content was not kept',
  repository: 'it is another repository',
  converted: 'a filter of git converts it',
}

export const conflictReasons = ['lines_changed', 'file_changed', 'file_exists', 'type_changed'] as const
export type ConflictReason = (typeof conflictReasons)[number]

export const conflictWords: Readonly<Record<ConflictReason, string>> = {
  lines_changed: 'its lines were changed since',
  file_changed: 'it was changed since',
  file_exists: 'another file is there now',
  type_changed: 'it is no regular file any more',
}

/** Lines that stay; null for a whole file. */
export interface StayingLines {
  readonly reason: StayReason
  readonly lines: number | null
}

/** What an undo does with a file. */
export type UndoDecision =
  /** Nothing of the work is left in it. */
  | { readonly is: 'nothing' }
  | { readonly is: 'stays'; readonly stays: readonly StayingLines[] }
  | { readonly is: 'conflict'; readonly reason: ConflictReason }
  | {
      readonly is: 'write'
      readonly path: string
      /** Null to remove it. */
      readonly version: UndoVersion | null
      /** A second path that is removed, for a rename. */
      readonly removes: string | null
      /** The content is as git stores it, not as it is on disk. */
      readonly isStored?: true
      readonly stays: readonly StayingLines[]
    }

/** A merge by git, and the decision by its result: null for a conflict. */
export interface PendingMerge {
  readonly is: 'merge'
  readonly base: string
  readonly ours: string
  readonly theirs: string
  readonly decide: (merged: string | null) => UndoDecision
  /** The same for a content with the marks of conflicts. */
  readonly markContent: (content: string) => UndoDecision
}

export interface UndoVersions {
  /** Undefined if unknown; null for no file. */
  readonly start: UndoVersion | null | undefined
  readonly end: UndoVersion | null | undefined
  /** The file now, under its present path. */
  readonly now: UndoVersion | null
  readonly path: string
  /** What is now at the path that it had at the start. */
  readonly atStart: UndoVersion | null
  /** How the lines of the file on disk end, if not as git stores them. */
  readonly endings: 'crlf' | 'other' | null
  /** A content by its id. */
  readonly contentOf: (id: string) => string | null
}

/** Decides what becomes of one file, up to the merge of its lines. */
export function planFileUndo(file: UndoneFile, versions: UndoVersions): UndoDecision | PendingMerge {
  const { start, end, now } = versions
  if (start === undefined || end === undefined) return stays('not_kept')
  if ([start, end].some((one) => one?.mode === '160000')) return stays('repository')
  if ([start, end].some((one) => one !== null && one.content === null)) return stays('not_kept')
  const merge = isText(start) && isText(end) ? mergeOf(file, versions) : null
  if (merge === null) return wholeFile(file, versions)
  const staying = stayingLines(merge)
  if (end === null) return broughtBack(file, versions, { merge, staying })
  if (now === null) return { is: 'nothing' }
  if (!isRegular(now)) return conflict('type_changed')
  const theirs = contentOfLines(merge.theirs)
  if (versions.endings === 'other') return now.content === theirs ? { is: 'nothing' } : stays('converted')
  const inForm = versions.endings === 'crlf' ? withCarriageReturns(merge) : merge
  const ours = now.content
  if (ours === null) return conflict('file_changed')
  const result = (content: string) => decideMerged(file, versions, { content, staying })
  return {
    is: 'merge',
    base: contentOfLines(inForm.base),
    ours,
    theirs: contentOfLines(inForm.theirs),
    decide: (clean) => {
      if (clean !== null) return result(clean)
      const applied = applyEdits(inForm, linesWithFeeds(ours))
      return applied === null ? conflict('lines_changed') : result(contentOfLines(applied))
    },
    markContent: (content) => {
      const decided = result(content)
      return decided.is === 'nothing' ? conflict('lines_changed') : decided
    },
  }
}

/** The merge by the record of lines; else by the start and the end, if nobody else wrote in between. */
function mergeOf(file: UndoneFile, { start, end, contentOf }: UndoVersions): UndoMerge | null {
  const first = linesWithFeeds(start?.content ?? '')
  const last = linesWithFeeds(end?.content ?? '')
  const linesOf = (id: string | null) => {
    const content = id === null ? '' : contentOf(id)
    return content === null ? null : linesWithFeeds(content)
  }
  const recorded = file.steps === null ? null : undoMerge(first, file.steps, linesOf)
  return recorded ?? (file.isWholeOwn ? mergeBetween(first, last) : null)
}

/** All that differs between two contents is taken back. */
function mergeBetween(first: readonly string[], last: readonly string[]): UndoMerge {
  const pairs = align(last, first)
  const edits: { goes: boolean; back: readonly string[] }[] = []
  let at = 0
  for (const pair of pairs) {
    const to = pair < 0 ? at : pair
    edits.push({ goes: pair < 0, back: first.slice(at, to) })
    at = pair < 0 ? at : pair + 1
  }
  edits.push({ goes: false, back: first.slice(at) })
  return { base: last, theirs: first, edits, uncertain: 0, inside: 0 }
}

function stayingLines({ uncertain, inside }: UndoMerge): readonly StayingLines[] {
  return [
    ...(uncertain > 0 ? [{ reason: 'uncertain' as const, lines: uncertain }] : []),
    ...(inside > 0 ? [{ reason: 'between' as const, lines: inside }] : []),
  ]
}

interface MergedLines {
  readonly merge: UndoMerge
  readonly staying: readonly StayingLines[]
}

/** A file that was removed at the end. */
function broughtBack(
  { from, isOwnRemoval }: UndoneFile,
  { start, atStart, endings }: UndoVersions,
  { merge, staying }: MergedLines,
): UndoDecision {
  if (start === null || start === undefined) return { is: 'nothing' }
  if (!isOwnRemoval) return stays('uncertain')
  if (endings === 'other') return stays('converted')
  const content = contentOfLines(merge.theirs)
  if (atStart !== null) {
    const isSameText = unixLines(atStart.content) === unixLines(content)
    return atStart.content === content || (endings === 'crlf' && isSameText)
      ? { is: 'nothing' }
      : conflict('file_exists')
  }
  const version = { mode: start.mode, content }
  return { is: 'write', path: from, version, removes: null, isStored: true, stays: staying }
}

function unixLines(content: string | null): string | undefined {
  return content?.replaceAll('\r\n', '\n')
}

function decideMerged(
  file: UndoneFile,
  { start, end, now, path, atStart }: UndoVersions,
  { content, staying }: { readonly content: string; readonly staying: readonly StayingLines[] },
): UndoDecision {
  if (now === null) return { is: 'nothing' }
  if (start === null && file.isOwnArrival) {
    if (content === '') return { is: 'write', path, version: null, removes: null, stays: staying }
    const others: StayingLines = { reason: 'others', lines: linesWithFeeds(content).length }
    const all = staying.some(({ reason }) => reason === 'uncertain') ? staying : [others]
    if (content === now.content) return { is: 'stays', stays: all }
    return { is: 'write', path, version: { ...now, content }, removes: null, stays: all }
  }
  const isOwnMode = file.isWholeOwn && start != null && end != null && start.mode !== end.mode
  const mode = isOwnMode && now.mode === end.mode ? start.mode : now.mode
  const isBack = file.isOwnRename && path === file.path && file.from !== path
  if (isBack && atStart !== null) return conflict('file_exists')
  if (!isBack && content === now.content && mode === now.mode)
    return staying.length > 0 ? { is: 'stays', stays: staying } : { is: 'nothing' }
  return {
    is: 'write',
    path: isBack ? file.from : path,
    version: { mode, content },
    removes: isBack ? path : null,
    stays: staying,
  }
}

/** A file without lines, or whose lines have no known author: as a whole, and only if it is unchanged since. */
function wholeFile(file: UndoneFile, versions: UndoVersions): UndoDecision {
  const { start, end, now, path, atStart, endings } = versions
  if (start === undefined || end === undefined) return stays('not_kept')
  if (!file.isWholeOwn) return stays('uncertain')
  const isMoved = file.from !== file.path
  if (end === null || now === null) {
    if (end !== null || start === null) return { is: 'nothing' }
    if (atStart !== null) return isSame(atStart, start) ? { is: 'nothing' } : conflict('file_exists')
    if (endings === 'other') return stays('converted')
    return { is: 'write', path: file.from, version: start, removes: null, isStored: true, stays: [] }
  }
  if (!isMoved && start !== null && isSame(now, start)) return { is: 'nothing' }
  if (endings !== null) return stays('converted')
  if (!isSame(now, end)) {
    const isTypeChange = start !== null && isRegular(now) !== isRegular(end)
    return conflict(isTypeChange ? 'type_changed' : 'file_changed')
  }
  if (isMoved && atStart !== null) return conflict('file_exists')
  if (start === null) return { is: 'write', path, version: null, removes: null, stays: [] }
  return { is: 'write', path: file.from, version: start, removes: isMoved ? path : null, stays: [] }
}

function isSame(one: UndoVersion, other: UndoVersion): boolean {
  return one.mode === other.mode && one.content === other.content
}

function isRegular({ mode }: UndoVersion): boolean {
  return mode.startsWith('100')
}

/** No file has no lines, which is text too. */
function isText(version: UndoVersion | null | undefined): boolean {
  if (version === null) return true
  return version !== undefined && isRegular(version) && !version.content?.slice(0, 8_000).includes('\0')
}

function withCarriageReturns({ base, theirs, edits, ...rest }: UndoMerge): UndoMerge {
  const all = (lines: readonly string[]) => lines.map((line) => line.replace(/\r?\n$/, '\r\n'))
  return {
    base: all(base),
    theirs: all(theirs),
    edits: edits.map(({ goes, back }) => ({ goes, back: all(back) })),
    ...rest,
  }
}

function stays(reason: StayReason): UndoDecision {
  return { is: 'stays', stays: [{ reason, lines: null }] }
}

function conflict(reason: ConflictReason): UndoDecision {
  return { is: 'conflict', reason }
}

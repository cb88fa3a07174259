import type { HookEdit } from '../../sessions/domain/session.ts'
import type { Scope } from './scope/scope.ts'

/** An attempt or turn that may be the author of a change. */
export interface CandidateAuthor {
  readonly id: string
  /** Ids of its ancestors' attempts, nearest first; empty without a parent. */
  readonly ancestors: readonly string[]
  /** Its declared scope; without areas it excludes nothing. */
  readonly scope: Scope
  /** Evidence from its client's hooks; absent if there are none. */
  readonly seen?: CandidateEvidence
}

/** Evidence that hooks reported about one candidate author. */
export interface CandidateEvidence {
  /** A captured turn only competes with an attempt if it reported an edit or ran a command. */
  readonly isTurn: boolean
  /** Its client reports every edit and nothing was lost: anything unreported outside its commands is not its work. */
  readonly isComplete: boolean
  readonly edits: readonly HookEdit[]
  /** When its commands and unknown tools ran; `to` is null while one runs. */
  readonly windows: readonly { readonly from: number; readonly to: number | null }[]
}

/** The time between two consecutive snapshots of one work tree. */
export interface Interval {
  /** Paths that differ between the two snapshots; null when that cannot be known. */
  readonly touched: ReadonlySet<string> | null
  /** Every attempt that was open in this work tree during it. */
  readonly open: readonly CandidateAuthor[]
  /** Paths that a person's restore or undo wrote in it, and none of those. */
  readonly written?: ReadonlySet<string>
  /** When its snapshots were taken, in milliseconds, if hooks report what happened between them. */
  readonly time?: { readonly from: number; readonly to: number }
  /** The contents of paths at both ends, if they were read. */
  readonly contents?: ReadonlyMap<string, EndContents>
}

/** The content of a path at both ends of an interval: ids, null for no file, undefined if unknown. */
export interface EndContents {
  readonly before: string | null | undefined
  readonly after: string | null | undefined
  /** The last write, as far as the second snapshot shows it. */
  readonly changedAt: number | null
}

/** One change of a path's content, and its authors. */
export interface EvidenceLink {
  /** Ids of contents; null for no file, undefined if unknown. */
  readonly before: string | null | undefined
  readonly after: string | null | undefined
  /** The author who reported it and others that wrote meanwhile; or all who could write unreported. */
  readonly authors: readonly CandidateAuthor[]
  /** A tool reported it. */
  readonly isReport: boolean
  /** No one but its authors could have made a part of it. */
  readonly isSure: boolean
}

/** A formatter may run this long after an edit, in milliseconds. */
const formatterWindow = 5_000
/** The clocks of hooks and file system may differ by this much. */
const tolerance = 500
/** A file system with whole-second times may differ by this much. */
const coarseTolerance = 2_000
/** Clocks of one machine differ by less than this. A write farther from a command is not certainly its own. */
const sameClockTolerance = 50

interface TimeWindow {
  readonly from: number
  readonly to: number
}

function timeOf({ time }: Interval): TimeWindow {
  return time ?? { from: 0, to: Number.MAX_SAFE_INTEGER }
}

/** A change while a descendant is open is the descendant's, unless a tool of the one above wrote. */
export function presentAuthors(interval: Interval, names: readonly string[]): readonly CandidateAuthor[] {
  const below = new Set(withoutAncestors(interval.open))
  const time = timeOf(interval)
  return interval.open.filter(
    (one) => below.has(one) || (one.seen?.isTurn && hasWritten(one.seen, names, time)),
  )
}

function hasWritten(
  { edits, windows }: CandidateEvidence,
  names: readonly string[],
  time: TimeWindow,
): boolean {
  return (
    edits.some((edit) => names.includes(edit.path) && isWithin(edit, time)) ||
    windows.some((window) => hasTimeOverlap(window, time))
  )
}

function isWithin({ from, reportedAt }: HookEdit, time: TimeWindow): boolean {
  return reportedAt >= time.from - tolerance && (from ?? reportedAt) <= time.to + tolerance
}

function hasTimeOverlap(
  window: { readonly from: number; readonly to: number | null },
  time: TimeWindow,
  within = tolerance,
): boolean {
  return window.from <= time.to + within && (window.to === null || window.to >= time.from - within)
}

interface CandidateEdit {
  readonly author: CandidateAuthor
  readonly edit: HookEdit
}

/** The changes of a path in an interval, from its first content to its last: reported edits, and what lies between. */
export function evidenceChain(
  interval: Interval,
  name: string,
  present: readonly CandidateAuthor[],
): readonly EvidenceLink[] {
  const [time, ends] = [timeOf(interval), interval.contents?.get(name)]
  const all = present
    .flatMap((author) => (author.seen?.edits ?? []).map((edit): CandidateEdit => ({ author, edit })))
    .filter(({ edit }) => edit.path === name && isWithin(edit, time))
    .toSorted((a, b) => a.edit.reportedAt - b.edit.reportedAt)
  const orderedEdits = editsBetweenEnds(
    all.filter(({ edit }) => edit.ended),
    ends,
    time,
  )
  const possibleWriters = (from: number, to: number, but: CandidateAuthor | null = null) =>
    present.filter((one) => one !== but && canHaveWritten(one, { from, to }, name))
  // Whether the last write was too far from every tool that could have made it.
  const isLate = (changedAt: number | null | undefined, from: number, to: number): boolean => {
    const within = changedAt != null && changedAt % 1000 === 0 ? coarseTolerance : sameClockTolerance
    const span = changedAt == null ? { from, to } : { from: changedAt, to: changedAt }
    return !present.some((one) => canHaveWritten(one, span, name, within))
  }
  const linkWithoutReport = (
    { before, after }: Pick<EvidenceLink, 'before' | 'after'>,
    authors: readonly CandidateAuthor[],
    isGuess: boolean,
  ): EvidenceLink => {
    // What no tool reported may be another attempt's, whatever hooks tell of it.
    const isAlone = present.every((one) => one.seen?.isTurn === true || authors.includes(one))
    const isSure = !isGuess && isAlone && authors.every(({ seen }) => seen?.isTurn !== true)
    return { before, after, authors, isReport: false, isSure }
  }
  if (orderedEdits.length === 0) {
    if (ends !== undefined && ends.before !== undefined && ends.before === ends.after) return []
    const { before, after, changedAt } = ends ?? {}
    return [
      linkWithoutReport(
        { before, after },
        possibleWriters(time.from, time.to),
        isLate(changedAt, time.from, time.to),
      ),
    ]
  }
  const links: EvidenceLink[] = []
  let [before, since, last]: [string | null | undefined, number, CandidateAuthor | null] = [
    ends?.before,
    time.from,
    null,
  ]
  const addGap = (after: string | null | undefined, at: number, changedAt: number | null): void => {
    if (before === undefined || after === undefined || before === after) return
    const owners = possibleWriters(since, at)
    // A formatter after an edit, or someone unseen.
    const isFormatter = last !== null && (changedAt ?? at) - since <= formatterWindow + tolerance
    const isGuess = owners.length === 0 && isFormatter
    const authors = isGuess && last !== null ? [last] : owners
    links.push(linkWithoutReport({ before, after }, authors, isGuess || isLate(changedAt, since, at)))
  }
  for (const { author, edit } of orderedEdits) {
    const began = edit.from ?? edit.reportedAt
    // Two authors wrote at the same time: the content between them is no one's.
    const isOverlapping = last !== null && last !== author && began < since && before !== edit.before
    if (!isOverlapping) addGap(edit.before, began, edit.modifiedAt ?? null)
    const joined = isOverlapping ? links.pop() : undefined
    const others = possibleWriters(began, edit.reportedAt, author)
    const seen = others.filter((one) => one.seen !== undefined)
    const isKnown = edit.before !== undefined && edit.after !== undefined && edit.from !== null
    const isExplained = isKnown && (edit.explained ?? seen.length === 0)
    const isShared = edit.explained === false && seen.length > 0
    const rest = isKnown ? (isShared ? [] : others) : possibleWriters(time.from, time.to, author)
    const isAlone = !author.seen?.isTurn && rest.length === 0
    links.push({
      before: joined === undefined ? edit.before : joined.before,
      after: edit.after,
      authors: [...new Set([...(joined?.authors ?? []), author, ...(isShared ? others : [])])],
      isReport: true,
      isSure: joined?.isSure !== false && (isExplained || isAlone),
    })
    before = edit.after
    since = edit.reportedAt
    last = author
  }
  addGap(ends?.after, time.to, ends?.changedAt ?? null)
  return links
}

/** Removes reports that lie before the first snapshot or after the last. */
function editsBetweenEnds(
  orderedEdits: readonly CandidateEdit[],
  ends: EndContents | undefined,
  time: TimeWindow,
): readonly CandidateEdit[] {
  if (ends === undefined) return orderedEdits
  let [from, to] = [0, orderedEdits.length]
  const isBefore = ({ edit }: CandidateEdit): boolean =>
    ends.before !== undefined && edit.after === ends.before && edit.before !== ends.before
  const isAfter = ({ edit }: CandidateEdit): boolean =>
    ends.after !== undefined && edit.before === ends.after && edit.after !== ends.after
  if (orderedEdits.length > 0 && orderedEdits[0] && orderedEdits[0].edit.before !== ends.before) {
    const last = orderedEdits.findIndex(isBefore)
    if (last >= 0 && ends.before !== ends.after) from = last + 1
  }
  if (orderedEdits.at(-1)?.edit.after !== ends.after) {
    const first = orderedEdits.findLastIndex(isAfter)
    if (first >= from && ends.before !== ends.after) to = first
  }
  // Beyond a snapshot, only an edit that fits to its content is within the tolerance of clocks, not earlier or later.
  const isEarlier = ({ edit }: CandidateEdit): boolean =>
    edit.reportedAt < time.from && isOther(edit.before, ends.before)
  const isLater = ({ edit }: CandidateEdit): boolean =>
    (edit.from ?? edit.reportedAt) > time.to && isOther(edit.after, ends.after)
  const between = orderedEdits.slice(from, to)
  const first = between.findIndex((one) => !isEarlier(one))
  return first < 0 ? [] : between.slice(first, between.findLastIndex((one) => !isLater(one)) + 1)
}

/** Whether two contents are known, and are not the same. */
function isOther(one: string | null | undefined, other: string | null | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

/** Whether an author may have written a path in a time span without reporting it. */
function canHaveWritten(
  { seen }: CandidateAuthor,
  time: TimeWindow,
  name: string,
  within = tolerance,
): boolean {
  if (seen === undefined) return true
  if (seen.windows.some((window) => hasTimeOverlap(window, time, within))) return true
  const isCutOff = (edit: HookEdit): boolean => edit.path === name && !edit.ended && isWithin(edit, time)
  return seen.edits.some(isCutOff) || !(seen.isComplete || seen.isTurn)
}

/** A change while a descendant is open is the descendant's: its ancestors do not compete. */
function withoutAncestors(open: readonly CandidateAuthor[]): readonly CandidateAuthor[] {
  const above = new Set(open.flatMap(({ ancestors }) => ancestors))
  return open.filter(({ id }) => !above.has(id))
}

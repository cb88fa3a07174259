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

/** The hook evidence about some paths in an interval. */
export interface HookEvidence {
  /** The candidate authors in the interval. */
  readonly present: readonly CandidateAuthor[]
  /** The edits that tools reported, in order. */
  readonly steps: readonly CandidateStep[]
  /** Unreported changes, and who could have written them: no known author, one, or several. */
  readonly gaps: readonly EvidenceGap[]
}

interface CandidateStep {
  readonly author: CandidateAuthor
  /** The content before and after is known, and no one else could write meanwhile. */
  readonly isCertain: boolean
  /** Something else wrote between its beginning and its end. */
  readonly isBetween: boolean
}

interface EvidenceGap {
  readonly owners: readonly CandidateAuthor[]
  /** The last write was at a time when none of them could write. */
  readonly isLate: boolean
  /** As in a link. */
  readonly isGuess?: true
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
  readonly isCertain: boolean
  /** None of them could write when it was last written: a formatter after an edit, or someone unseen. */
  readonly isGuess?: true
}

/** The reports on one path in an interval as a chain from its first content to its last. */
export function evidenceChain(interval: Interval, name: string): readonly EvidenceLink[] {
  const time = interval.time ?? { from: 0, to: Number.MAX_SAFE_INTEGER }
  const present = presentAuthors(interval.open, [name], time)
  return chainOf(present, { name, time, isTurnView: false, ends: interval.contents?.get(name) }).links
}

/** A formatter may run this long after an edit, in milliseconds. */
const formatterWindow = 5_000
/** The clocks of hooks and file system may differ by this much. */
const tolerance = 500
/** A file system with whole-second times may differ by this much. */
const coarseTolerance = 2_000

export function hookEvidenceOf(interval: Interval, names: readonly string[], viewer: string): HookEvidence {
  const time = interval.time ?? { from: 0, to: Number.MAX_SAFE_INTEGER }
  const present = presentAuthors(interval.open, names, time)
  const isTurnView = interval.open.some(({ id, seen }) => id === viewer && seen?.isTurn)
  const chains = names.map((name) =>
    chainOf(present, { name, time, isTurnView, ends: interval.contents?.get(name) }),
  )
  return {
    present,
    steps: chains.flatMap(({ steps }) => steps),
    gaps: chains.flatMap(({ gaps }) => gaps),
  }
}

interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** A change while a descendant is open is the descendant's, unless a turn above it reported writing it. */
function presentAuthors(
  open: readonly CandidateAuthor[],
  names: readonly string[],
  time: TimeWindow,
): readonly CandidateAuthor[] {
  const below = new Set(withoutAncestors(open))
  return open.filter((one) => below.has(one) || (one.seen?.isTurn && hasWritten(one.seen, names, time)))
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

function isWithin({ from, at }: HookEdit, time: TimeWindow): boolean {
  return at >= time.from - tolerance && (from ?? at) <= time.to + tolerance
}

function hasTimeOverlap(
  window: { readonly from: number; readonly to: number | null },
  time: TimeWindow,
): boolean {
  return window.from <= time.to + tolerance && (window.to === null || window.to >= time.from - tolerance)
}

interface PathObservation {
  readonly name: string
  readonly time: TimeWindow
  /** Viewed from a captured turn: another incomplete turn may have written at any time. */
  readonly isTurnView: boolean
  readonly ends: EndContents | undefined
}

interface CandidateEdit {
  readonly author: CandidateAuthor
  readonly edit: HookEdit
}

/** The reports on one path in order, with the gaps between consecutive contents. */
function chainOf(
  present: readonly CandidateAuthor[],
  observation: PathObservation,
): Pick<HookEvidence, 'steps' | 'gaps'> & { readonly links: readonly EvidenceLink[] } {
  const { name, time, ends } = observation
  const all = present
    .flatMap((author) => (author.seen?.edits ?? []).map((edit): CandidateEdit => ({ author, edit })))
    .filter(({ edit }) => edit.path === name && isWithin(edit, time))
    .toSorted((a, b) => a.edit.at - b.edit.at)
  const orderedEdits = editsBetweenEnds(
    all.filter(({ edit }) => edit.ended),
    ends,
  )
  const possibleWriters = (
    from: number,
    to: number,
    but: CandidateAuthor | null = null,
  ): readonly CandidateAuthor[] =>
    present.filter((one) => one !== but && canHaveWritten(one, { from, to }, observation))
  const possibleWritersAt = (at: number) => {
    const spread = at % 1000 === 0 ? coarseTolerance - tolerance : 0
    return possibleWriters(at - spread, at + spread)
  }
  if (orderedEdits.length === 0) {
    if (ends !== undefined && ends.before !== undefined && ends.before === ends.after)
      return { steps: [], gaps: [], links: [] }
    const owners = possibleWriters(time.from, time.to)
    const isLate =
      owners.length > 0 && ends?.changedAt != null && possibleWritersAt(ends.changedAt).length === 0
    const link: EvidenceLink = {
      before: ends?.before,
      after: ends?.after,
      authors: owners,
      isReport: false,
      isCertain: false,
      ...(isLate && { isGuess: true }),
    }
    return { steps: [], gaps: [{ owners, isLate }], links: [link] }
  }
  const steps = orderedEdits.map(({ author: by, edit }): CandidateStep => {
    const others = possibleWriters(edit.from ?? edit.at, edit.at, by).filter((one) => one.seen !== undefined)
    const isBetween = edit.explained === false && others.length > 0
    const isKnown = edit.before !== undefined && edit.after !== undefined && edit.from !== null
    const isWhole = edit.explained ?? others.length === 0
    return { author: by, isBetween, isCertain: isKnown && isWhole }
  })
  const gaps: EvidenceGap[] = []
  const links: EvidenceLink[] = []
  let isOverlapping = false
  let [before, since, last]: [string | null | undefined, number, CandidateAuthor | null] = [
    ends?.before,
    time.from,
    null,
  ]
  const addGap = (content: string | null | undefined, at: number, changedAt: number | null): void => {
    if (before === undefined || content === undefined || before === content) return
    const owners = possibleWriters(since, at)
    const written = changedAt ?? at
    const isFormatter = last !== null && written - since <= formatterWindow + tolerance
    const guess = owners.length === 0 && isFormatter && last !== null ? last : null
    const authors = guess === null ? owners : [guess]
    const isLate = changedAt !== null && possibleWritersAt(changedAt).length === 0
    const guessed = guess === null && !isLate ? {} : { isGuess: true as const }
    gaps.push({ owners: authors, isLate: false, ...guessed })
    if (!isOverlapping)
      links.push({ before, after: content, authors, isReport: false, isCertain: false, ...guessed })
  }
  for (const [at, { author: by, edit }] of orderedEdits.entries()) {
    // Two authors wrote at the same time: the content between them is no one's.
    isOverlapping = last !== null && last !== by && (edit.from ?? edit.at) < since && before !== edit.before
    addGap(edit.before, edit.from ?? edit.at, null)
    const joined = isOverlapping ? links.pop() : undefined
    const { isCertain: sure, isBetween } = steps[at] ?? { isCertain: false, isBetween: false }
    const others = isBetween ? possibleWriters(edit.from ?? edit.at, edit.at, by) : []
    links.push({
      before: joined === undefined ? edit.before : joined.before,
      after: edit.after,
      authors: [...new Set([...(joined?.authors ?? []), by, ...others])],
      isReport: true,
      isCertain: sure && joined === undefined,
    })
    before = edit.after
    since = edit.at
    last = by
  }
  isOverlapping = false
  addGap(ends?.after, time.to, ends?.changedAt ?? null)
  return { steps, gaps, links }
}

/** Removes reports that lie before the first snapshot or after the last. */
function editsBetweenEnds(
  orderedEdits: readonly CandidateEdit[],
  ends: EndContents | undefined,
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
  return orderedEdits.slice(from, to)
}

/** Whether an author may have written a path in a time span without reporting it. */
function canHaveWritten(
  { seen }: CandidateAuthor,
  time: TimeWindow,
  { name, isTurnView }: PathObservation,
): boolean {
  if (seen === undefined) return true
  if (seen.windows.some((window) => hasTimeOverlap(window, time))) return true
  const isCutOff = (edit: HookEdit): boolean => edit.path === name && !edit.ended && isWithin(edit, time)
  if (seen.edits.some(isCutOff)) return true
  return !seen.isComplete && (!seen.isTurn || isTurnView)
}

/** A change while a descendant is open is the descendant's: its ancestors do not compete. */
export function withoutAncestors(open: readonly CandidateAuthor[]): readonly CandidateAuthor[] {
  const above = new Set(open.flatMap(({ ancestors }) => ancestors))
  return open.filter(({ id }) => !above.has(id))
}

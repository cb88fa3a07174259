import type { HookEdit } from '../../sessions/domain/session.ts'
import type { Scope } from './scope/scope.ts'

/** An attempt as far as attribution needs it. */
export interface CandidateAuthor {
  readonly id: string
  /** Ids of the attempts above it: its task's parents' attempts, nearest first. Empty for one that stands alone. */
  readonly ancestors: readonly string[]
  /** What it declared; a scope without areas narrows nothing. */
  readonly scope: Scope
  /** What the hooks of its client told of it; absent where there are none. */
  readonly seen?: CandidateEvidence
}

/** What hooks told of one contender. */
export interface CandidateEvidence {
  /** A captured turn: beside an attempt it is a rival only where it reported an edit or ran a command. */
  readonly isTurn: boolean
  /** Its client tells of every edit, and nothing was lost: what it neither reported nor ran a command for, it did not do. */
  readonly isComplete: boolean
  readonly edits: readonly HookEdit[]
  /** When a command of it, or a tool that is not known, ran; to null where it runs on. */
  readonly windows: readonly { readonly from: number; readonly to: number | null }[]
}

/** The time between two neighbouring snapshots of one work tree. */
export interface Interval {
  /** Paths that differ between the two snapshots; null when that cannot be known. */
  readonly touched: ReadonlySet<string> | null
  /** Every attempt that was open in this work tree during it. */
  readonly open: readonly CandidateAuthor[]
  /** When its snapshots were taken, in milliseconds, where hooks tell what happened between them. */
  readonly time?: { readonly from: number; readonly to: number }
  /** What stood at paths then, where that was asked. */
  readonly contents?: ReadonlyMap<string, EndContents>
}

/** What stood at a path at both ends of a stretch: ids, null for no file, undefined where it is not known. */
export interface EndContents {
  readonly before: string | null | undefined
  readonly after: string | null | undefined
  /** When it was last written, as far as the second snapshot tells. */
  readonly changedAt: number | null
}

/** What hooks tell of some paths in a stretch. */
export interface HookEvidence {
  /** Who was there. */
  readonly present: readonly CandidateAuthor[]
  /** The edits that tools reported, in order. */
  readonly steps: readonly CandidateStep[]
  /** What changed beside them, and who could write then: nobody of whom hooks told, one, or several. */
  readonly gaps: readonly EvidenceGap[]
}

interface CandidateStep {
  readonly by: CandidateAuthor
  /** It is known what stood there before and after, and nobody else could write meanwhile. */
  readonly sure: boolean
  /** Something else wrote between its beginning and its end. */
  readonly isBetween: boolean
}

interface EvidenceGap {
  readonly owners: readonly CandidateAuthor[]
  /** It was written last when none of them could. */
  readonly isLate: boolean
}

/** What became of one path between two moments, and who made it so. */
export interface EvidenceLink {
  /** Ids of contents; null for no file, undefined where it is not known. */
  readonly before: string | null | undefined
  readonly after: string | null | undefined
  /** The one who reported it, with others that wrote meanwhile; or all that could write then without telling. */
  readonly by: readonly CandidateAuthor[]
  /** A tool reported it. */
  readonly isReport: boolean
  readonly sure: boolean
}

/** The reports on one path in a stretch as a chain from its first content to its last. */
export function evidenceChain(interval: Interval, name: string): readonly EvidenceLink[] {
  const time = interval.time ?? { from: 0, to: Number.MAX_SAFE_INTEGER }
  const present = presentAuthors(interval.open, [name], time)
  return chainOf(present, { name, time, isOfTurn: false, ends: interval.contents?.get(name) }).links
}

/** A formatter is at work so long after an edit, in milliseconds. */
const fixedWithin = 5_000
/** The clocks of a hook and of a file system differ by so much. */
const tolerance = 500
/** A file system that counts whole seconds differs by so much. */
const coarse = 2_000

export function hookEvidenceOf(interval: Interval, names: readonly string[], viewer: string): HookEvidence {
  const time = interval.time ?? { from: 0, to: Number.MAX_SAFE_INTEGER }
  const present = presentAuthors(interval.open, names, time)
  const isOfTurn = interval.open.some(({ id, seen }) => id === viewer && seen?.isTurn)
  const seenOf = names.map((name) =>
    chainOf(present, { name, time, isOfTurn, ends: interval.contents?.get(name) }),
  )
  return {
    present,
    steps: seenOf.flatMap(({ steps }) => steps),
    gaps: seenOf.flatMap(({ gaps }) => gaps),
  }
}

interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** What changes while a descendant is open is the descendant's, but for what a turn above it was seen to write itself. */
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
  /** Seen from a captured turn: then another turn of which not everything is told may have written at any time. */
  readonly isOfTurn: boolean
  readonly ends: EndContents | undefined
}

interface CandidateEdit {
  readonly by: CandidateAuthor
  readonly edit: HookEdit
}

/** The reports on one path in their order, with what lies between what one left and the next one found. */
function chainOf(
  present: readonly CandidateAuthor[],
  looking: PathObservation,
): Pick<HookEvidence, 'steps' | 'gaps'> & { readonly links: readonly EvidenceLink[] } {
  const { name, time, ends } = looking
  const all = present
    .flatMap((by) => (by.seen?.edits ?? []).map((edit): CandidateEdit => ({ by, edit })))
    .filter(({ edit }) => edit.path === name && isWithin(edit, time))
    .toSorted((a, b) => a.edit.at - b.edit.at)
  const placed = editsBetweenEnds(
    all.filter(({ edit }) => edit.ended),
    ends,
  )
  const able = (from: number, to: number, but: CandidateAuthor | null = null): readonly CandidateAuthor[] =>
    present.filter((one) => one !== but && canHaveWritten(one, { from, to }, looking))
  const ableAt = (at: number) => {
    const spread = at % 1000 === 0 ? coarse - tolerance : 0
    return able(at - spread, at + spread)
  }
  if (placed.length === 0) {
    if (ends !== undefined && ends.before !== undefined && ends.before === ends.after)
      return { steps: [], gaps: [], links: [] }
    const owners = able(time.from, time.to)
    const link = { before: ends?.before, after: ends?.after, by: owners, isReport: false, sure: false }
    const isLate = owners.length > 0 && ends?.changedAt != null && ableAt(ends.changedAt).length === 0
    return { steps: [], gaps: [{ owners, isLate }], links: [link] }
  }
  const steps = placed.map(({ by, edit }): CandidateStep => {
    const others = able(edit.from ?? edit.at, edit.at, by).filter((one) => one.seen !== undefined)
    const isBetween = edit.explained === false && others.length > 0
    const isKnown = edit.before !== undefined && edit.after !== undefined && edit.from !== null
    const isWhole = edit.explained ?? others.length === 0
    return { by, isBetween, sure: isKnown && isWhole }
  })
  const gaps: EvidenceGap[] = []
  const links: EvidenceLink[] = []
  let isOverlapping = false
  let [before, since, last]: [string | null | undefined, number, CandidateAuthor | null] = [
    ends?.before,
    time.from,
    null,
  ]
  const until = (found: string | null | undefined, at: number, changedAt: number | null): void => {
    if (before === undefined || found === undefined || before === found) return
    const owners = able(since, at)
    const written = changedAt ?? at
    const isFixed = last !== null && written - since <= fixedWithin + tolerance
    const by = owners.length === 0 && isFixed && last !== null ? [last] : owners
    gaps.push({ owners: by, isLate: false })
    if (!isOverlapping) links.push({ before, after: found, by, isReport: false, sure: false })
  }
  for (const [at, { by, edit }] of placed.entries()) {
    // Two that wrote at the same time: what stood between them is nobody's.
    isOverlapping = last !== null && last !== by && (edit.from ?? edit.at) < since && before !== edit.before
    until(edit.before, edit.from ?? edit.at, null)
    const joined = isOverlapping ? links.pop() : undefined
    const { sure, isBetween } = steps[at] ?? { sure: false, isBetween: false }
    const others = isBetween ? able(edit.from ?? edit.at, edit.at, by) : []
    links.push({
      before: joined === undefined ? edit.before : joined.before,
      after: edit.after,
      by: [...new Set([...(joined?.by ?? []), by, ...others])],
      isReport: true,
      sure: sure && joined === undefined,
    })
    before = edit.after
    since = edit.at
    last = by
  }
  isOverlapping = false
  until(ends?.after, time.to, ends?.changedAt ?? null)
  return { steps, gaps, links }
}

/** Without the reports that a snapshot was too late, or too early, to lie between. */
function editsBetweenEnds(
  placed: readonly CandidateEdit[],
  ends: EndContents | undefined,
): readonly CandidateEdit[] {
  if (ends === undefined) return placed
  let [from, to] = [0, placed.length]
  const isBefore = ({ edit }: CandidateEdit): boolean =>
    ends.before !== undefined && edit.after === ends.before && edit.before !== ends.before
  const isAfter = ({ edit }: CandidateEdit): boolean =>
    ends.after !== undefined && edit.before === ends.after && edit.after !== ends.after
  if (placed.length > 0 && placed[0] && placed[0].edit.before !== ends.before) {
    const last = placed.findIndex(isBefore)
    if (last >= 0 && ends.before !== ends.after) from = last + 1
  }
  if (placed.at(-1)?.edit.after !== ends.after) {
    const first = placed.findLastIndex(isAfter)
    if (first >= from && ends.before !== ends.after) to = first
  }
  return placed.slice(from, to)
}

/** Whether somebody may have written a path at some time of a span without telling of it. */
function canHaveWritten(
  { seen }: CandidateAuthor,
  time: TimeWindow,
  { name, isOfTurn }: PathObservation,
): boolean {
  if (seen === undefined) return true
  if (seen.windows.some((window) => hasTimeOverlap(window, time))) return true
  const isCutOff = (edit: HookEdit): boolean => edit.path === name && !edit.ended && isWithin(edit, time)
  if (seen.edits.some(isCutOff)) return true
  return !seen.isComplete && (!seen.isTurn || isOfTurn)
}

/** What changes while a descendant is open is the descendant's: an attempt above it is no rival. */
export function withoutAncestors(open: readonly CandidateAuthor[]): readonly CandidateAuthor[] {
  const above = new Set(open.flatMap(({ ancestors }) => ancestors))
  return open.filter(({ id }) => !above.has(id))
}

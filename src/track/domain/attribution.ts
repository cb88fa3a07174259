import {
  type CandidateAuthor,
  type HookEvidence,
  hookEvidenceOf,
  type Interval,
  withoutAncestors,
} from './hook-evidence.ts'
import { coverage } from './scope/scope.ts'

/** How certain it is that an attempt made a change. */
export type Certainty = 'certain' | 'probable' | 'contested'

/** A changed path: both names of a rename. */
export interface ChangedPath {
  readonly path: string
  readonly from?: string
}

/** The owner of a change, from the view of one attempt. */
export interface Attribution {
  readonly certainty: Certainty
  /** The descendant attempt that made the change, when that is one and not the attempt itself. */
  readonly via?: string
  /** Other attempts, outside the family, that may have made the change or a part of it. */
  readonly others: readonly string[]
  /** The hooks report every edit, but not this one, and no one else was active. */
  readonly unseen?: true
}

/** Each change during an attempt is in exactly one of these, by path. */
export interface AttributedChanges {
  /** Changes of the attempt, including those that others may have made. */
  readonly own: ReadonlyMap<string, Attribution>
  /** Changes probably made by others, with their ids. */
  readonly candidates: ReadonlyMap<string, readonly string[]>
  /** Changes certainly made by others, with their ids. */
  readonly foreign: ReadonlyMap<string, readonly string[]>
  /** Changes by no one that hooks reported: a person or an unobserved tool. Only for a captured turn. */
  readonly outside: ReadonlySet<string>
}

/** Decides for every change during an attempt whether the attempt made it, from the intervals in which it was open. */
export function attributeChanges(
  attempt: string,
  intervals: readonly Interval[],
  changes: readonly ChangedPath[],
): AttributedChanges {
  const openIntervals = intervals.filter((interval) => interval.open.some(({ id }) => id === attempt))
  const own = new Map<string, Attribution>()
  const candidates = new Map<string, readonly string[]>()
  const foreign = new Map<string, readonly string[]>()
  const outside = new Set<string>()
  for (const change of changes) {
    const claim = claimOn(attempt, openIntervals, change)
    const { certainty, others, unseen } = claim
    if (certainty === 'foreign') foreign.set(change.path, others)
    else if (certainty === 'outside') outside.add(change.path)
    else if (certainty === 'perhaps') candidates.set(change.path, others)
    else
      own.set(change.path, {
        certainty,
        ...viaField(attempt, claim),
        others,
        ...(unseen && { unseen }),
      })
  }
  return { own, candidates, foreign, outside }
}

/** The authors of a change in an interval: one attempt, or all that may have made it. A claim is never overruled by areas alone. */
export function possibleAuthors(
  open: readonly CandidateAuthor[],
  { path, from }: ChangedPath,
  claimant: string | null,
): { readonly owners: readonly string[]; readonly certainty: Certainty } {
  const names = from === undefined ? [path] : [path, from]
  const present = withoutAncestors(open)
  const reporters = present.filter(({ seen }) => seen?.edits.some((edit) => names.includes(edit.path)))
  const candidates = reporters.length > 0 ? reporters : present
  const covering = candidates.filter(({ scope }) => names.some((name) => coverage(scope, name) === 'covered'))
  const likely = covering.length > 0 ? covering : candidates
  const owners = candidates.filter((one) => likely.includes(one) || one.id === claimant).map(({ id }) => id)
  const certainty = candidates.length <= 1 ? 'certain' : owners.length === 1 ? 'probable' : 'contested'
  return { owners, certainty }
}

interface AttributionClaim {
  readonly certainty: Certainty | 'perhaps' | 'outside' | 'foreign'
  /** The attempt itself and its descendants, as far as they may have made the change. */
  readonly family: readonly string[]
  readonly others: readonly string[]
  readonly unseen?: true
}

function claimOn(attempt: string, openIntervals: readonly Interval[], change: ChangedPath): AttributionClaim {
  const touching = openIntervals.filter((interval) => isTouched(interval, change))
  const unmeasured = openIntervals.filter((interval) => interval.touched === null)
  const claims = (candidates: readonly Interval[]) =>
    candidates.map((interval) => claimIn(attempt, interval, change))
  // No interval shows the change, so it falls into an unmeasured one, and which one is unknown.
  if (touching.length === 0)
    return mergeClaims(claims(unmeasured.length > 0 ? unmeasured : openIntervals), WEAKEST)
  const claim = touchedClaim(claims(touching))
  if (!isUncertainOrForeign(claim.certainty) || unmeasured.length === 0) return claim
  return mergeClaims([claim, ...claims(unmeasured)], WEAKEST)
}

/** An attempt that touched the path in one interval changed it; later intervals may be shared. */
function touchedClaim(claims: readonly AttributionClaim[]): AttributionClaim {
  const claim = mergeClaims(claims, STRONGEST)
  const isShared = claims.some(({ certainty }) => uncertain.includes(certainty))
  return claim.certainty === 'certain' && isShared ? { ...claim, certainty: 'probable' } : claim
}

const uncertain: CertaintyOrder = ['probable', 'contested', 'perhaps']

function isTouched({ touched }: Interval, { path, from }: ChangedPath): boolean {
  return touched !== null && (touched.has(path) || (from !== undefined && touched.has(from)))
}

/** Only certain evidence removes a change: that one attempt was open alone, or what hooks reported. */
function claimIn(attempt: string, interval: Interval, { path, from }: ChangedPath): AttributionClaim {
  const names = from === undefined ? [path] : [path, from]
  if (!interval.open.some(({ seen }) => seen))
    return claimByAreas(attempt, withoutAncestors(interval.open), names)
  const evidence = hookEvidenceOf(interval, names, attempt)
  return claimByEvidence(attempt, evidence, names)
}

/** A declared area only makes its owner more likely. */
function claimByAreas(
  attempt: string,
  candidates: readonly CandidateAuthor[],
  names: readonly string[],
): AttributionClaim {
  const { isFamily, claim } = claimBuilder(attempt)
  if (!candidates.some(isFamily)) return claim('foreign', candidates)
  const covering = candidates.filter(({ scope }) => names.some((name) => coverage(scope, name) === 'covered'))
  if (candidates.every(isFamily)) return claim('certain', covering.length > 0 ? covering : candidates)
  if (covering.length === 0) return claim('contested', candidates)
  if (!covering.some(isFamily)) return claim('perhaps', covering)
  if (!covering.every(isFamily)) return claim('contested', covering)
  const others = candidates.filter((one) => !isFamily(one))
  return claim('probable', [...covering, ...others])
}

function claimBuilder(attempt: string) {
  const isFamily = ({ id, ancestors }: CandidateAuthor): boolean =>
    id === attempt || ancestors.includes(attempt)
  const claim = (
    certainty: AttributionClaim['certainty'],
    authors: readonly CandidateAuthor[],
  ): AttributionClaim => ({
    certainty,
    family: [...new Set(authors.filter(isFamily).map(({ id }) => id))],
    others: [...new Set(authors.filter((one) => !isFamily(one)).map(({ id }) => id))],
  })
  return { isFamily, claim }
}

/** Edits belong to the tool that reported them; changes between edits to anyone who could write then. */
function claimByEvidence(
  attempt: string,
  evidence: HookEvidence,
  names: readonly string[],
): AttributionClaim {
  const { isFamily, claim } = claimBuilder(attempt)
  const { present, steps, gaps } = evidence
  const isTurn = present.some(({ id, seen }) => id === attempt && seen?.isTurn)
  const own = steps.filter(({ author: by }) => isFamily(by))
  const writers = [...steps.map(({ author: by }) => by), ...gaps.flatMap(({ owners }) => owners)]
  const ownGaps = gaps.filter(({ owners }) => owners.some(isFamily))
  const hasUnexplainedGap = gaps.some(({ owners }) => owners.length === 0)
  if (own.length === 0 && ownGaps.length === 0) {
    if (isTurn) return claim(hasUnexplainedGap ? 'outside' : 'foreign', writers)
    // Otherwise an agent could hide work by not reporting it.
    if (!hasUnexplainedGap) return claim('foreign', writers)
    const remaining = claimByAreas(
      attempt,
      present.filter(({ seen }) => !seen?.isTurn),
      names,
    )
    const { certainty } = remaining
    return { ...remaining, certainty: certainty === 'certain' ? 'probable' : certainty, unseen: true }
  }
  const isAlone = writers.every(isFamily)
  const shared = ownGaps.filter(({ owners }) => !owners.every(isFamily))
  if (own.length === 0) {
    const isInTime = ownGaps.every(({ isLate }) => !isLate)
    if (shared.length === 0)
      return claim(isAlone && isInTime && !isTurn && !hasUnexplainedGap ? 'certain' : 'probable', writers)
    const sharedClaim = claimByAreas(attempt, [...new Set(shared.flatMap(({ owners }) => owners))], names)
    return {
      ...sharedClaim,
      certainty: sharedClaim.certainty === 'certain' ? 'probable' : sharedClaim.certainty,
    }
  }
  const isCertain = gaps.length === 0 && own.every(({ isCertain: sure }) => sure)
  // A person may have written what no tool reported.
  const isExplained = gaps.every(({ owners, isGuess }) => owners.length > 0 && !isGuess)
  if (isCertain || (isAlone && !isTurn && isExplained)) return claim('certain', writers)
  return claim(
    shared.length > 0 || own.some(({ isBetween }) => isBetween) ? 'contested' : 'probable',
    writers,
  )
}

function isUncertainOrForeign(certainty: AttributionClaim['certainty']): boolean {
  return certainty === 'perhaps' || certainty === 'outside' || certainty === 'foreign'
}

type CertaintyOrder = readonly AttributionClaim['certainty'][]

// Seen in several intervals: the strongest claim counts.
const STRONGEST: CertaintyOrder = ['certain', 'probable', 'contested', 'perhaps', 'outside', 'foreign']
// Seen in no interval: any claim may hold, so a mix of own and others' claims is contested.
const WEAKEST: CertaintyOrder = ['contested', 'probable', 'certain', 'perhaps', 'outside', 'foreign']

function mergeClaims(claims: readonly AttributionClaim[], order: CertaintyOrder): AttributionClaim {
  const kinds = new Set(claims.map(({ certainty }) => certainty))
  const undecided =
    order === WEAKEST && [...kinds].some(isUncertainOrForeign) && ![...kinds].every(isUncertainOrForeign)
  const certainty = undecided ? 'contested' : (order.find((kind) => kinds.has(kind)) ?? 'contested')
  const isUnseen = claims.filter((one) => !isUncertainOrForeign(one.certainty)).every(({ unseen }) => unseen)
  return {
    certainty,
    ...(isUnseen && !isUncertainOrForeign(certainty) && claims.length > 0 && { unseen: true }),
    family: [...new Set(claims.flatMap(({ family }) => family))],
    others: [...new Set(claims.flatMap(({ others }) => others))],
  }
}

function viaField(attempt: string, { family }: AttributionClaim): { readonly via?: string } {
  const [only, ...more] = family
  return only === undefined || only === attempt || more.length > 0 ? {} : { via: only }
}

import {
  type CandidateAuthor,
  type HookEvidence,
  hookEvidenceOf,
  type Interval,
  withoutAncestors,
} from './hook-evidence.ts'
import { coverage } from './scope/scope.ts'

/** How sure it is that an attempt made a change. */
export type Certainty = 'certain' | 'probable' | 'contested'

/** A changed path: both names of a rename. */
export interface ChangedPath {
  readonly path: string
  readonly from?: string
}

/** Whose a change is, seen from one attempt. */
export interface Attribution {
  readonly certainty: Certainty
  /** The descendant attempt that made the change, when that is one and not the attempt itself. */
  readonly via?: string
  /** Other attempts, outside the family, that may have made the change or a part of it. */
  readonly rivals: readonly string[]
  /** Hooks that tell of every edit told of none of this, and nobody else was there. */
  readonly unseen?: true
}

/** Every change of an attempt's time is in exactly one of these, by its path. */
export interface AttributedChanges {
  /** What belongs to the attempt, or may as well as to others. */
  readonly own: ReadonlyMap<string, Attribution>
  /** What the attempt may have made although others are likelier, with the ids of those. */
  readonly candidates: ReadonlyMap<string, readonly string[]>
  /** What others are known to have made, with their ids. */
  readonly foreign: ReadonlyMap<string, readonly string[]>
  /** What nobody of whom hooks told made: a person, or a tool that nobody saw. Only of a captured turn. */
  readonly outside: ReadonlySet<string>
}

/** Says for every change during an attempt whether it is that attempt's, from the stretches in which it was open. */
export function attributeChanges(
  attempt: string,
  intervals: readonly Interval[],
  changes: readonly ChangedPath[],
): AttributedChanges {
  const lived = intervals.filter((interval) => interval.open.some(({ id }) => id === attempt))
  const own = new Map<string, Attribution>()
  const candidates = new Map<string, readonly string[]>()
  const foreign = new Map<string, readonly string[]>()
  const outside = new Set<string>()
  for (const change of changes) {
    const claim = claimOn(attempt, lived, change)
    const { certainty, rivals, unseen } = claim
    if (certainty === 'foreign') foreign.set(change.path, rivals)
    else if (certainty === 'outside') outside.add(change.path)
    else if (certainty === 'perhaps') candidates.set(change.path, rivals)
    else own.set(change.path, { certainty, ...viaField(attempt, claim), rivals, ...(unseen && { unseen }) })
  }
  return { own, candidates, foreign, outside }
}

/**
 * Who made a change in a stretch: one attempt, or all that may have. None where no attempt was open. What one of them
 * says that it changed is never another's alone by its area.
 */
export function makersIn(
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
  readonly rivals: readonly string[]
  readonly unseen?: true
}

function claimOn(attempt: string, lived: readonly Interval[], change: ChangedPath): AttributionClaim {
  const seen = lived.filter((interval) => isTouched(interval, change))
  const blind = lived.filter((interval) => interval.touched === null)
  const claims = (candidates: readonly Interval[]) =>
    candidates.map((interval) => claimIn(attempt, interval, change))
  // A change that no stretch saw fell into one that could not be measured, but which one is not known.
  if (seen.length === 0) return mergeClaims(claims(blind.length > 0 ? blind : lived), WEAKEST)
  const claim = seenClaim(claims(seen))
  if (!isUncertainOrForeign(claim.certainty) || blind.length === 0) return claim
  return mergeClaims([claim, ...claims(blind)], WEAKEST)
}

/** An attempt that certainly touched the path once has changed it; whose all of its lines are is another matter. */
function seenClaim(claims: readonly AttributionClaim[]): AttributionClaim {
  const claim = mergeClaims(claims, STRONGEST)
  const isShared = claims.some(({ certainty }) => doubtful.includes(certainty))
  return claim.certainty === 'certain' && isShared ? { ...claim, certainty: 'probable' } : claim
}

const doubtful: CertaintyOrder = ['probable', 'contested', 'perhaps']

function isTouched({ touched }: Interval, { path, from }: ChangedPath): boolean {
  return touched !== null && (touched.has(path) || (from !== undefined && touched.has(from)))
}

/** Only what is known takes a change out of a report: that one attempt was open alone, or what hooks told. */
function claimIn(attempt: string, interval: Interval, { path, from }: ChangedPath): AttributionClaim {
  const names = from === undefined ? [path] : [path, from]
  if (!interval.open.some(({ seen }) => seen))
    return claimByAreas(attempt, withoutAncestors(interval.open), names)
  const sight = hookEvidenceOf(interval, names, attempt)
  return claimByEvidence(attempt, sight, names)
}

/** A declared area makes its owner likelier, no more. */
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
    among: readonly CandidateAuthor[],
  ): AttributionClaim => ({
    certainty,
    family: [...new Set(among.filter(isFamily).map(({ id }) => id))],
    rivals: [...new Set(among.filter((one) => !isFamily(one)).map(({ id }) => id))],
  })
  return { isFamily, claim }
}

/** What reports and commands leave: each edit is its tool's, and what lies between them is whoever's could write then. */
function claimByEvidence(attempt: string, sight: HookEvidence, names: readonly string[]): AttributionClaim {
  const { isFamily, claim } = claimBuilder(attempt)
  const { present, steps, gaps } = sight
  const isTurn = present.some(({ id, seen }) => id === attempt && seen?.isTurn)
  const own = steps.filter(({ by }) => isFamily(by))
  const hands = [...steps.map(({ by }) => by), ...gaps.flatMap(({ owners }) => owners)]
  const mine = gaps.filter(({ owners }) => owners.some(isFamily))
  const nobodys = gaps.some(({ owners }) => owners.length === 0)
  if (own.length === 0 && mine.length === 0) {
    if (isTurn) return claim(nobodys ? 'outside' : 'foreign', hands)
    // Or an agent could hide work by leaving no report of it.
    if (!nobodys) return claim('foreign', hands)
    const left = claimByAreas(
      attempt,
      present.filter(({ seen }) => !seen?.isTurn),
      names,
    )
    const { certainty } = left
    return { ...left, certainty: certainty === 'certain' ? 'probable' : certainty, unseen: true }
  }
  const isAlone = hands.every(isFamily)
  const shared = mine.filter(({ owners }) => !owners.every(isFamily))
  if (own.length === 0) {
    const isInTime = mine.every(({ isLate }) => !isLate)
    if (shared.length === 0)
      return claim(isAlone && isInTime && !isTurn && !nobodys ? 'certain' : 'probable', hands)
    const sharing = claimByAreas(attempt, [...new Set(shared.flatMap(({ owners }) => owners))], names)
    return { ...sharing, certainty: sharing.certainty === 'certain' ? 'probable' : sharing.certainty }
  }
  const isSure = gaps.length === 0 && own.every(({ sure }) => sure)
  if (isSure || (isAlone && !isTurn)) return claim('certain', hands)
  return claim(shared.length > 0 || own.some(({ isBetween }) => isBetween) ? 'contested' : 'probable', hands)
}

function isUncertainOrForeign(certainty: AttributionClaim['certainty']): boolean {
  return certainty === 'perhaps' || certainty === 'outside' || certainty === 'foreign'
}

type CertaintyOrder = readonly AttributionClaim['certainty'][]

// Seen several times: what is known of one of the times counts.
const STRONGEST: CertaintyOrder = ['certain', 'probable', 'contested', 'perhaps', 'outside', 'foreign']
// Seen nowhere: it may be any of the claims, so that mine and another's together are contested.
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
    rivals: [...new Set(claims.flatMap(({ rivals }) => rivals))],
  }
}

function viaField(attempt: string, { family }: AttributionClaim): { readonly via?: string } {
  const [only, ...more] = family
  return only === undefined || only === attempt || more.length > 0 ? {} : { via: only }
}

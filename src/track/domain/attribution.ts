import {
  type CandidateAuthor,
  type EvidenceLink,
  evidenceChain,
  type Interval,
  presentAuthors,
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
  /**
   * Changes by none of them: what a person's restore or undo wrote, and, for a captured turn, what no hook reported: a
   * person or an unobserved tool.
   */
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

/** One change of a path in an interval, and who may have made it: files, lines and turns are judged by it alike. */
export interface AuthoredLink extends Omit<EvidenceLink, 'authors'> {
  /** All that may have made it; none: a person or an unobserved tool. */
  readonly able: readonly CandidateAuthor[]
  /** Those of them that a report, a scope or a claim speaks for. */
  readonly likely: readonly CandidateAuthor[]
  /** The hooks report every edit, but not this one. */
  readonly unseen?: true
}

/** Decides who may have made the changes of a path in an interval, one after the other. */
export function authoredLinks(
  interval: Interval,
  { path, from }: ChangedPath,
  claimant: string | null = null,
): readonly AuthoredLink[] {
  const names = from === undefined ? [path] : [path, from]
  const present = presentAuthors(interval, names)
  const chain = (some: Interval) => names.flatMap((name) => evidenceChain(some, name, present))
  const { contents: _, ...unread } = interval
  const changes = chain(interval)
  // With the same content at both ends, only the mode changed.
  return (changes.length > 0 ? changes : chain(unread)).map(({ authors, ...link }): AuthoredLink => {
    if (link.isReport) return { ...link, able: authors, likely: authors }
    if (authors.length > 0) return { ...link, able: authors, likely: likelyAuthors(authors, names, claimant) }
    // Otherwise an agent could hide work by not reporting it.
    const attempts = present.filter(({ seen }) => !seen?.isTurn)
    const able = attempts.length > 0 ? attempts : present.filter(({ seen }) => seen?.isComplete === false)
    const likely = likelyAuthors(able, names, claimant)
    return { ...link, able, likely, isSure: present.length === 0, unseen: true }
  })
}

/** A declared area only makes its owner more likely, and never overrules a claim. */
function likelyAuthors(
  able: readonly CandidateAuthor[],
  names: readonly string[],
  claimant: string | null,
): readonly CandidateAuthor[] {
  const covering = able.filter(({ scope }) => names.some((name) => coverage(scope, name) === 'covered'))
  return covering.length === 0 ? able : able.filter((one) => covering.includes(one) || one.id === claimant)
}

/** The authors of one change, or of several that cannot be told apart. */
export function authorsOf(links: readonly AuthoredLink[]): {
  readonly authors: readonly CandidateAuthor[]
  readonly certainty: Certainty
} {
  const able = new Set(links.flatMap((link) => link.able))
  const authors = [...new Set(links.flatMap(({ likely }) => likely))]
  const isSure = able.size <= 1 && links.every((link) => link.isSure && link.able.length === able.size)
  return { authors, certainty: isSure ? 'certain' : authors.length > 1 ? 'contested' : 'probable' }
}

interface AttributionClaim {
  readonly certainty: Certainty | 'perhaps' | 'outside' | 'foreign'
  /** The attempt itself and its descendants, as far as they may have made the change. */
  readonly family: readonly string[]
  readonly others: readonly string[]
  readonly unseen?: true
}

function claimOn(attempt: string, openIntervals: readonly Interval[], change: ChangedPath): AttributionClaim {
  const all = openIntervals.filter((interval) => isTouched(interval, change))
  // What a person's command wrote takes nothing from who changed the file before or after it.
  const touching = all.filter((interval) => !isWritten(interval, change))
  const unmeasured = openIntervals.filter((interval) => interval.touched === null)
  const claims = (candidates: readonly Interval[]) =>
    candidates.map((interval) => sumOfClaims(claimsIn(attempt, interval, change)))
  if (touching.length === 0 && all.length > 0 && unmeasured.length === 0)
    return { certainty: 'outside', family: [], others: [] }
  // No interval shows the change, so it falls into an unmeasured one, and which one is unknown.
  if (touching.length === 0)
    return mergeClaims(claims(unmeasured.length > 0 ? unmeasured : openIntervals), WEAKEST)
  const claim = sumOfClaims(touching.flatMap((interval) => claimsIn(attempt, interval, change)))
  if (!isUncertainOrForeign(claim.certainty) || unmeasured.length === 0) return claim
  return mergeClaims([claim, ...claims(unmeasured)], WEAKEST)
}

/** A file is certain if all its changes are. */
function sumOfClaims(claims: readonly AttributionClaim[]): AttributionClaim {
  const claim = mergeClaims(claims, STRONGEST)
  const isShared = claims.some(({ certainty }) => uncertain.includes(certainty))
  return claim.certainty === 'certain' && isShared ? { ...claim, certainty: 'probable' } : claim
}

const uncertain: CertaintyOrder = ['probable', 'contested', 'perhaps', 'outside']

function isTouched({ touched }: Interval, { path, from }: ChangedPath): boolean {
  return touched !== null && (touched.has(path) || (from !== undefined && touched.has(from)))
}

function isWritten({ written }: Interval, { path, from = path }: ChangedPath): boolean {
  return written !== undefined && (written.has(path) || written.has(from))
}

/** Only certain evidence removes a change: that one attempt was open alone, or what hooks reported. */
function claimsIn(attempt: string, interval: Interval, change: ChangedPath): readonly AttributionClaim[] {
  const isFamily = ({ id, ancestors }: CandidateAuthor): boolean =>
    id === attempt || ancestors.includes(attempt)
  const isTurn = interval.open.some(({ id, seen }) => id === attempt && seen?.isTurn)
  return authoredLinks(interval, change).map(({ able, likely, isSure, unseen }): AttributionClaim => {
    const claim = (certainty: AttributionClaim['certainty'], authors: readonly CandidateAuthor[]) => ({
      certainty,
      family: [...new Set(authors.filter(isFamily).map(({ id }) => id))],
      others: [...new Set(authors.filter((one) => !isFamily(one)).map(({ id }) => id))],
      ...(unseen && { unseen }),
    })
    if (able.every(isFamily) && able.length > 0) return claim(isSure ? 'certain' : 'probable', likely)
    if (!able.some(isFamily)) return claim(unseen && isTurn ? 'outside' : 'foreign', able)
    if (!likely.some(isFamily)) return claim('perhaps', likely)
    if (!likely.every(isFamily)) return claim('contested', likely)
    return claim('probable', [...likely, ...able.filter((one) => !isFamily(one))])
  })
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

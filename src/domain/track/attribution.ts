import { coverage, type Scope } from './scope/scope.ts'

/** How sure it is that an attempt made a change. */
export type Certainty = 'certain' | 'probable' | 'contested'

/** An attempt as far as attribution needs it. */
export interface Contender {
  readonly id: string
  /** Ids of the attempts above it: its task's parents' attempts, nearest first. Empty for one that stands alone. */
  readonly ancestors: readonly string[]
  /** What it declared; a scope without areas narrows nothing. */
  readonly scope: Scope
  /** Paths (from the work tree's top) that its edit hooks reported. */
  readonly reported: ReadonlySet<string>
}

/** The time between two neighbouring snapshots of one work tree. */
export interface Stretch {
  /** Paths that differ between the two snapshots; null when that cannot be known. */
  readonly touched: ReadonlySet<string> | null
  /** Every attempt that was open in this work tree during it. */
  readonly open: readonly Contender[]
}

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
}

/** Every change of an attempt's time is in exactly one of these, by its path. */
export interface AttributedChanges {
  /** What belongs to the attempt, or may as well as to others. */
  readonly own: ReadonlyMap<string, Attribution>
  /** What the attempt may have made although others are likelier, with the ids of those. */
  readonly perhaps: ReadonlyMap<string, readonly string[]>
  /** What others are known to have made, with their ids. */
  readonly foreign: ReadonlyMap<string, readonly string[]>
}

/** Says for every change during an attempt whether it is that attempt's, from the stretches in which it was open. */
export function attributeChanges(
  attempt: string,
  stretches: readonly Stretch[],
  changes: readonly ChangedPath[],
): AttributedChanges {
  const lived = stretches.filter((stretch) => stretch.open.some(({ id }) => id === attempt))
  const own = new Map<string, Attribution>()
  const perhaps = new Map<string, readonly string[]>()
  const foreign = new Map<string, readonly string[]>()
  for (const change of changes) {
    const claim = claimOn(attempt, lived, change)
    if (claim.certainty === 'foreign') foreign.set(change.path, claim.rivals)
    else if (claim.certainty === 'perhaps') perhaps.set(change.path, claim.rivals)
    else own.set(change.path, { certainty: claim.certainty, ...viaOf(attempt, claim), rivals: claim.rivals })
  }
  return { own, perhaps, foreign }
}

interface Claim {
  readonly certainty: Certainty | 'perhaps' | 'foreign'
  /** The attempt itself and its descendants, as far as they may have made the change. */
  readonly family: readonly string[]
  readonly rivals: readonly string[]
}

function claimOn(attempt: string, lived: readonly Stretch[], change: ChangedPath): Claim {
  const seen = lived.filter((stretch) => wasTouched(stretch, change))
  const blind = lived.filter((stretch) => stretch.touched === null)
  const claims = (candidates: readonly Stretch[]) =>
    candidates.map((stretch) => claimIn(attempt, stretch, change))
  // A change that no stretch saw fell into one that could not be measured, but which one is not known.
  if (seen.length === 0) return merged(claims(blind.length > 0 ? blind : lived), WEAKEST)
  const claim = merged(claims(seen), STRONGEST)
  if (!isOthers(claim.certainty) || blind.length === 0) return claim
  return merged([claim, ...claims(blind)], WEAKEST)
}

function wasTouched({ touched }: Stretch, { path, from }: ChangedPath): boolean {
  return touched !== null && (touched.has(path) || (from !== undefined && touched.has(from)))
}

/**
 * Only what is known takes a change out of a report: that one attempt was open alone, or that a hook saw the edit.
 * A declared area makes its owner likelier, no more.
 */
function claimIn(attempt: string, stretch: Stretch, { path, from }: ChangedPath): Claim {
  const names = from === undefined ? [path] : [path, from]
  const isFamily = ({ id, ancestors }: Contender): boolean => id === attempt || ancestors.includes(attempt)
  const claim = (certainty: Claim['certainty'], among: readonly Contender[]): Claim => ({
    certainty,
    family: among.filter(isFamily).map(({ id }) => id),
    rivals: among.filter((one) => !isFamily(one)).map(({ id }) => id),
  })
  const present = withoutAncestors(stretch.open)
  const reporters = present.filter(({ reported }) => names.some((name) => reported.has(name)))
  const candidates = reporters.length > 0 ? reporters : present
  if (!candidates.some(isFamily)) return claim('foreign', candidates)
  const covering = candidates.filter(({ scope }) => names.some((name) => coverage(scope, name) === 'covered'))
  if (candidates.every(isFamily)) return claim('certain', covering.length > 0 ? covering : candidates)
  if (covering.length === 0) return claim('contested', candidates)
  if (!covering.some(isFamily)) return claim('perhaps', covering)
  if (!covering.every(isFamily)) return claim('contested', covering)
  const others = candidates.filter((one) => !isFamily(one))
  return claim('probable', [...covering, ...others])
}

// What changes while a descendant is open is the descendant's: an attempt above it is no rival.
function withoutAncestors(open: readonly Contender[]): readonly Contender[] {
  const above = new Set(open.flatMap(({ ancestors }) => ancestors))
  return open.filter(({ id }) => !above.has(id))
}

function isOthers(certainty: Claim['certainty']): boolean {
  return certainty === 'perhaps' || certainty === 'foreign'
}

type Order = readonly Claim['certainty'][]

// Seen several times: an attempt that certainly touched the path once has changed it, whatever others did besides.
const STRONGEST: Order = ['certain', 'probable', 'contested', 'perhaps', 'foreign']
// Seen nowhere: it may be any of the claims, so that mine and another's together are contested.
const WEAKEST: Order = ['contested', 'probable', 'certain', 'perhaps', 'foreign']

function merged(claims: readonly Claim[], order: Order): Claim {
  const kinds = new Set(claims.map(({ certainty }) => certainty))
  const undecided = order === WEAKEST && [...kinds].some(isOthers) && ![...kinds].every(isOthers)
  return {
    certainty: undecided ? 'contested' : (order.find((kind) => kinds.has(kind)) ?? 'contested'),
    family: [...new Set(claims.flatMap(({ family }) => family))],
    rivals: [...new Set(claims.flatMap(({ rivals }) => rivals))],
  }
}

function viaOf(attempt: string, { family }: Claim): { readonly via?: string } {
  const [only, ...more] = family
  return only === undefined || only === attempt || more.length > 0 ? {} : { via: only }
}

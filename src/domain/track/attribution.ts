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

export interface AttributedChanges {
  /** By the change's path: what belongs to the attempt, or may. */
  readonly own: ReadonlyMap<string, Attribution>
  /** By the change's path: what others made, with their ids. To be named in a note, not counted as the attempt's. */
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
  const foreign = new Map<string, readonly string[]>()
  for (const change of changes) {
    const claim = claimOn(attempt, lived, change)
    if (claim.certainty === 'foreign') foreign.set(change.path, claim.rivals)
    else own.set(change.path, { certainty: claim.certainty, ...viaOf(attempt, claim), rivals: claim.rivals })
  }
  return { own, foreign }
}

interface Claim {
  readonly certainty: Certainty | 'foreign'
  /** The attempt itself and its descendants, as far as they may have made the change. */
  readonly family: readonly string[]
  readonly rivals: readonly string[]
}

function claimOn(attempt: string, lived: readonly Stretch[], change: ChangedPath): Claim {
  const seen = lived.filter((stretch) => wasTouched(stretch, change))
  const blind = lived.filter((stretch) => stretch.touched === null)
  const claims = (candidates: readonly Stretch[]) =>
    candidates.map((stretch) => claimIn(attempt, stretch, change))
  // A change that no stretch saw fell into one that could not be measured, but nobody knows into which.
  if (seen.length === 0) return merged(claims(blind.length > 0 ? blind : lived), WEAKEST)
  const claim = merged(claims(seen), STRONGEST)
  if (claim.certainty !== 'foreign' || blind.length === 0) return claim
  return merged([claim, ...claims(blind)], WEAKEST)
}

function wasTouched({ touched }: Stretch, { path, from }: ChangedPath): boolean {
  return touched !== null && (touched.has(path) || (from !== undefined && touched.has(from)))
}

function claimIn(attempt: string, stretch: Stretch, change: ChangedPath): Claim {
  const candidates = withoutAncestors(stretch.open)
  const owners = narrowed(candidates, change)
  const isFamily = ({ id, ancestors }: Contender): boolean => id === attempt || ancestors.includes(attempt)
  const family = owners.filter(isFamily).map(({ id }) => id)
  const rivals = owners.filter((owner) => !isFamily(owner)).map(({ id }) => id)
  if (candidates.every(isFamily)) return { certainty: 'certain', family, rivals }
  if (family.length === 0) return { certainty: 'foreign', family, rivals }
  return { certainty: rivals.length === 0 ? 'probable' : 'contested', family, rivals }
}

// What changes while a descendant is open is the descendant's: an attempt above it is no rival.
function withoutAncestors(open: readonly Contender[]): readonly Contender[] {
  const above = new Set(open.flatMap(({ ancestors }) => ancestors))
  return open.filter(({ id }) => !above.has(id))
}

// A hook that saw the edit says more than a declaration; where neither speaks of the path, everybody is left.
function narrowed(candidates: readonly Contender[], { path, from }: ChangedPath): readonly Contender[] {
  const names = from === undefined ? [path] : [path, from]
  const reporters = candidates.filter(({ reported }) => names.some((name) => reported.has(name)))
  if (reporters.length > 0) return reporters
  const covering = candidates.filter(({ scope }) => names.some((name) => coverage(scope, name) === 'covered'))
  return covering.length > 0 ? covering : candidates
}

type Order = readonly Claim['certainty'][]

// Seen several times: whoever certainly touched the path once has changed it, whatever others did besides.
const STRONGEST: Order = ['certain', 'probable', 'contested', 'foreign']
// Seen nowhere: it may be any of the claims, so that mine and somebody else's together are contested.
const WEAKEST: Order = ['contested', 'probable', 'certain', 'foreign']

function merged(claims: readonly Claim[], order: Order): Claim {
  const kinds = new Set(claims.map(({ certainty }) => certainty))
  const undecided = order === WEAKEST && kinds.size > 1 && kinds.has('foreign')
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

import type { Certainty } from './attribution.ts'

/** What attempts say about a changed path: the ids of those that name it as their change, and of those that deny it. */
export interface PathStatements {
  readonly claims: ReadonlySet<string>
  readonly denies: ReadonlySet<string>
}

export type Settlement =
  /** The certainty by hooks, scopes and times stays. */
  | { readonly is: 'unsettled' }
  /** The attempt alone claims it, or every other one denies it: with its scope alone covering it, certainly. */
  | { readonly is: 'own'; readonly isCertain: boolean }
  /** It is not the attempt's, but one of these attempts'. */
  | { readonly is: 'others'; readonly authors: readonly string[] }
  /** Everyone who may have made it denies it. */
  | { readonly is: 'denied_by_all' }

const unsettled: Settlement = { is: 'unsettled' }

/**
 * Decides an uncertain change by what the attempts say. A change that a hook saw the attempt make, or that no other
 * attempt can have made, is not moved by words.
 */
export function settle(
  attempt: string,
  { certainty, others }: { readonly certainty: Certainty | 'perhaps'; readonly others: readonly string[] },
  { claims, denies }: PathStatements,
): Settlement {
  if (certainty === 'certain' || others.length === 0) return unsettled
  const possible = others.filter((id) => !denies.has(id))
  if (denies.has(attempt))
    return possible.length > 0 ? { is: 'others', authors: possible } : { is: 'denied_by_all' }
  const claimants = possible.filter((id) => claims.has(id))
  const isOwn = claims.has(attempt) ? claimants.length === 0 : possible.length === 0
  if (isOwn) return { is: 'own', isCertain: certainty === 'probable' && claims.has(attempt) }
  if (claims.has(attempt)) return unsettled
  return claimants.length === 1 ? { is: 'others', authors: claimants } : unsettled
}

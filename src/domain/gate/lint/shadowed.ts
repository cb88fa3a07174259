import { type ProcessDefinition, stateNamed, type TransitionDefinition } from '../definition.ts'
import { type Finding, finding } from './finding.ts'

/** A transition that an earlier one of the same state and event always takes the place of. */
export function shadowed(definition: ProcessDefinition): readonly Finding[] {
  const { transitions, dialect } = definition
  return transitions.flatMap((later, at) => {
    const first = transitions.findIndex(
      (earlier, place) => place < at && isAlwaysFirst(earlier, later, definition),
    )
    const earlier = transitions[first]
    if (!earlier) return []
    const path = ['transitions', at]
    const where = `(${later.from}, ${later.event})`
    if (later.guard === null) {
      const message = `Two transitions of ${where} have no guard; number ${first + 1} is always taken, this one to "${later.to}" never.`
      return finding('error', 'two-without-guard', { message, path })
    }
    const message =
      dialect === 1
        ? `The transition to "${earlier.to}" without a guard (number ${first + 1}) comes first in ${where}, so this guarded one is never tried. Put it before.`
        : `The transition to "${earlier.to}" without a guard (number ${first + 1}) comes first in ${where}. This dialect tries guarded ones first; dialect 1 would take the first.`
    return finding(dialect === 1 ? 'error' : 'warning', 'guardless-first', { message, path })
  })
}

function isAlwaysFirst(
  earlier: TransitionDefinition,
  later: TransitionDefinition,
  definition: ProcessDefinition,
): boolean {
  if (earlier.event !== later.event || earlier.guard !== null) return false
  if (earlier.from !== later.from && earlier.from !== '*') return false
  // A limit on visits is a guard too, and so are required artifacts where the later one does without them.
  if ((stateNamed(definition, earlier.to)?.maxVisits ?? null) !== null) return false
  if (!earlier.escape && later.escape) return false
  return coversRoles(earlier.allowedRoles, later.allowedRoles)
}

function coversRoles(wide: readonly string[] | null, narrow: readonly string[] | null): boolean {
  if (wide === null || wide.includes('*')) return true
  return narrow?.every((role) => wide.includes(role)) ?? false
}

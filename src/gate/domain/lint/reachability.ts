import { type ProcessDefinition, stateNamed, type TransitionDefinition } from '../definition.ts'
import { nextStates, reachableStates } from '../transitions.ts'
import { type Finding, finding } from './finding.ts'

/** Every state can be reached and left, and every path can reach an end. */
export function reachabilityFindings(definition: ProcessDefinition): readonly Finding[] {
  const { states, initialState, transitions } = definition
  // Without an initial state there are no paths to check; the unknown reference is reported.
  if (!stateNamed(definition, initialState)) return []
  const reached = reachableStates(definition, initialState)
  return [
    ...missingEndFindings(definition, reached),
    ...states.flatMap((state, index) => {
      const path = ['states', index, 'name']
      if (!reached.has(state.name)) {
        const message = `No transition leads to "${state.name}" from "${initialState}".`
        return finding('warning', 'unreachable-state', { message, path })
      }
      if (state.isFinal) return []
      if (nextStates(definition, state.name).every((next) => next === state.name)) {
        const message = `"${state.name}" is not final, and no transition leaves it.`
        return finding('error', 'no-way-out', { message, path })
      }
      if (canEnd(definition, state.name)) return []
      const message = `No final state can be reached from "${state.name}".`
      return finding('error', 'no-way-to-an-end', { message, path })
    }),
    ...transitions.flatMap(({ from }, index) => {
      if (from === '*' || !stateNamed(definition, from)?.isFinal) return []
      const message = `This transition is never taken: "${from}" is final.`
      return finding('warning', 'leaves-final-state', { message, path: ['transitions', index, 'from'] })
    }),
  ]
}

function missingEndFindings(
  definition: ProcessDefinition,
  reached: ReadonlyMap<string, number>,
): readonly Finding[] {
  if ([...reached.keys()].some((state) => stateNamed(definition, state)?.isFinal)) return []
  const message = definition.states.some(({ isFinal }) => isFinal)
    ? `No final state can be reached from "${definition.initialState}".`
    : 'No state is final: set is_final: true on the last one.'
  return [finding('error', 'no-final-state', { message, path: ['states'] })]
}

function canEnd(definition: ProcessDefinition, state: string): boolean {
  return [...reachableStates(definition, state).keys()].some((next) => stateNamed(definition, next)?.isFinal)
}

/** Finds transitions that are always shadowed by an earlier one of the same state and event. */
export function shadowedTransitionFindings(definition: ProcessDefinition): readonly Finding[] {
  const { transitions, dialect } = definition
  return transitions.flatMap((later, index) => {
    const first = transitions.findIndex(
      (earlier, place) => place < index && isAlwaysFirst(earlier, later, definition),
    )
    const earlier = transitions[first]
    if (!earlier) return []
    const path = ['transitions', index]
    const where = `(${later.from}, ${later.event})`
    if (later.guard === null) {
      const message = `Two transitions of ${where} have no guard. Number ${first + 1} is always taken, this one to "${later.to}" never.`
      return finding('error', 'two-without-guard', { message, path })
    }
    const message =
      dialect === 1
        ? `This guarded transition is never tried: the one to "${earlier.to}" without a guard (number ${first + 1}) comes first in ${where}. Put this one before it.`
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
  // A visit limit is a guard too, and so are required artifacts if the later transition does not need them.
  if ((stateNamed(definition, earlier.to)?.maxVisits ?? null) !== null) return false
  if (!earlier.escape && later.escape) return false
  return hasAllRoles(earlier.allowedRoles, later.allowedRoles)
}

function hasAllRoles(wide: readonly string[] | null, narrow: readonly string[] | null): boolean {
  if (wide === null || wide.includes('*')) return true
  return narrow?.every((role) => wide.includes(role)) ?? false
}

/** Words that mark a final state as a success. */
const goodEnds = new Set(
  'accepted answered approved closed complete completed delivered deployed done end ended finalized finish finished fixed implemented live merged passed published released resolved shipped signed solved succeeded success successful verified'.split(
    ' ',
  ),
)
const doubts = new Set('almost error errors fail failed no not partially partly un with without'.split(' '))

/**
 * A final state that says no `outcome` counts as success, and opens the gate of the run's mission: a name that is not
 * plainly one is probably a mistake. `stated`: the states that say theirs.
 */
export function outcomeFindings(
  { states }: Pick<ProcessDefinition, 'states'>,
  stated: ReadonlySet<string>,
): readonly Finding[] {
  return states.flatMap(({ name, isFinal }, index) => {
    if (!isFinal || stated.has(name) || isGoodEnd(name)) return []
    const message = `"${name}" is final and has no outcome, so a run that ends there counts as succeeded. Set outcome: failed or outcome: succeeded.`
    return [finding('warning', 'no-outcome', { message, path: ['states', index, 'name'] })]
  })
}

function isGoodEnd(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  return words.some((word) => goodEnds.has(word)) && !words.some((word) => doubts.has(word))
}

import { type ProcessDefinition, stateNamed } from '../definition.ts'
import { nextStates, reachable } from '../reach.ts'
import { type Finding, finding } from './finding.ts'

/** Every state can be reached and left, and every way can come to an end. */
export function ways(definition: ProcessDefinition): readonly Finding[] {
  const { states, initialState, transitions } = definition
  // Without a beginning nothing can be said about ways; the reference is reported.
  if (!stateNamed(definition, initialState)) return []
  const reached = reachable(definition, initialState)
  return [
    ...noEnd(definition, reached),
    ...states.flatMap((state, at) => {
      const path = ['states', at, 'name']
      if (!reached.has(state.name)) {
        const message = `No transition leads to "${state.name}" from "${initialState}".`
        return finding('warning', 'unreachable-state', { message, path })
      }
      if (state.isFinal) return []
      if (nextStates(definition, state.name).every((next) => next === state.name)) {
        const message = `"${state.name}" is not final, and no transition leads out of it.`
        return finding('error', 'no-way-out', { message, path })
      }
      if (canEnd(definition, state.name)) return []
      const message = `From "${state.name}" no final state can be reached.`
      return finding('error', 'no-way-to-an-end', { message, path })
    }),
    ...transitions.flatMap(({ from }, at) => {
      if (from === '*' || !stateNamed(definition, from)?.isFinal) return []
      const message = `"${from}" is final, so this transition can never be taken.`
      return finding('warning', 'leaves-final-state', { message, path: ['transitions', at, 'from'] })
    }),
  ]
}

function noEnd(definition: ProcessDefinition, reached: ReadonlyMap<string, number>): readonly Finding[] {
  if ([...reached.keys()].some((state) => stateNamed(definition, state)?.isFinal)) return []
  const message = definition.states.some(({ isFinal }) => isFinal)
    ? `No final state can be reached from "${definition.initialState}".`
    : 'No state is final: say is_final: true of the last one.'
  return [finding('error', 'no-final-state', { message, path: ['states'] })]
}

function canEnd(definition: ProcessDefinition, state: string): boolean {
  return [...reachable(definition, state).keys()].some((next) => stateNamed(definition, next)?.isFinal)
}

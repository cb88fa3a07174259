import { type ProcessDefinition, stateNamed } from './definition.ts'

/** The states that transitions lead to directly from a state, each once. */
export function nextStates(definition: ProcessDefinition, state: string): readonly string[] {
  if (stateNamed(definition, state)?.isFinal) return []
  const leaving = definition.transitions.filter(({ from }) => from === state || from === '*')
  return [...new Set(leaving.map(({ to }) => to))]
}

/** Every state that can be reached from one, guards aside, with the fewest steps to it. The start is 0 steps away. */
export function reachable(definition: ProcessDefinition, start: string): ReadonlyMap<string, number> {
  const steps = new Map([[start, 0]])
  for (const [state, count] of steps) {
    for (const next of nextStates(definition, state)) {
      if (!steps.has(next)) steps.set(next, count + 1)
    }
  }
  return steps
}

/** Whether every way from the beginning to a state goes through another one before. */
export function leads(definition: ProcessDefinition, through: string, state: string): boolean {
  const { initialState } = definition
  if (through === state || !reachable(definition, initialState).has(state)) return false
  const around = new Set(through === initialState ? [] : [initialState])
  for (const step of around) {
    for (const next of nextStates(definition, step)) if (next !== through) around.add(next)
  }
  return !around.has(state)
}

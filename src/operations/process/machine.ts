import type { ProcessDefinition } from '../../domain/gate/definition.ts'
import { expressionWords } from '../../domain/gate/expression.ts'

/** The states and transitions of a process, to be drawn: one from everywhere is one from each state that goes on. */
export function machineOf({ states, transitions }: ProcessDefinition) {
  const going = states.filter(({ isFinal }) => !isFinal).map(({ name }) => name)
  return {
    states: states.map(({ name, description, isFinal, outcome, maxVisits }) => ({
      name,
      description,
      is_final: isFinal,
      outcome,
      max_visits: maxVisits,
    })),
    transitions: transitions.flatMap((transition) => {
      const { from, event, to, guard } = transition
      const begins = from === '*' ? going.filter((state) => state !== to) : [from]
      return begins.map((begin) => ({
        from: begin,
        event,
        to,
        guard: guard === null ? null : expressionWords(guard),
        escape: transition.escape,
        everywhere: from === '*',
      }))
    }),
  }
}

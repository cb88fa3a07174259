import { excerpt } from '../../domain/budget.ts'
import { decisionChoices } from '../../domain/gate/decision-choices.ts'
import type { ProcessDefinition } from '../../domain/gate/definition.ts'

/** What each event means that a person may send in a state, as it is answered. */
export function choiceEntries(definition: ProcessDefinition, state: string, events: readonly string[]) {
  return decisionChoices(definition, state, events).map((choice) => ({
    event: choice.event,
    description: choice.description === null ? null : excerpt(choice.description, 160),
    answer: choice.answer,
    sends_back: choice.sendsBack,
    approves: choice.approves,
    asks_for: choice.asksFor,
  }))
}

import type { AdvancedRun } from '../../domain/gate/advance-run.ts'
import { candidates } from '../../domain/gate/candidates.ts'
import { type ProcessDefinition, stateNamed } from '../../domain/gate/definition.ts'
import { interpolated } from '../../domain/gate/prompt.ts'
import type { Accepted } from '../../domain/gate/transition.ts'
import type { Answer } from '../operation.ts'
import { guardLine } from './refusal.ts'
import { promptWithWords, type Said, saidNow } from './said.ts'

/** What an accepted event is answered with; the same again when it is repeated with its key. */
export function acceptedAnswer(
  definition: ProcessDefinition,
  { record, event }: AdvancedRun,
  { unsatisfied, stateChanged }: Accepted,
  said: readonly Said[],
): Answer {
  const own = stateNamed(definition, record.state)?.prompt ?? null
  const prompt = promptWithWords(
    own === null ? null : interpolated(own, definition.dialect, record.context),
    record.state,
    saidNow(event, said),
  )
  const next = definition.events
    .filter(({ name }) => candidates(definition, record.state, name).length > 0)
    .map(({ name }) => name)
  return {
    event_id: event.id,
    accepted: true,
    transition: { from_state: event.from, to_state: event.to },
    new_revision: event.revision,
    state_changed: stateChanged,
    ...(unsatisfied.length > 0 && { unsatisfied_guards: unsatisfied.map(guardLine) }),
    status: record.status,
    ...(stateChanged && prompt !== null && { prompt }),
    ...(stateChanged && { next_events: next }),
  }
}

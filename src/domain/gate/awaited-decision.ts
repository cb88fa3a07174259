import { candidates } from './candidates.ts'
import { type EventDefinition, type ProcessDefinition, stateNamed } from './definition.ts'
import type { Need } from './evidence.ts'
import { neededFor } from './needs.ts'

/** What people decide about a run in a state. */
export interface AwaitedDecision {
  /** Events that only people may send, in the order of the definition. */
  readonly events: readonly string[]
  /** Approvals that guards of the state ask for. */
  readonly approvals: readonly { readonly role: string; readonly of: string | null }[]
}

/** What a run in this state waits for people to decide; null when it does not. Ways out that are only escapes do not count. */
export function awaitedDecision(definition: ProcessDefinition, state: string): AwaitedDecision | null {
  if (stateNamed(definition, state)?.isFinal) return null
  const events = definition.events.filter((event) => isForPeople(definition, event))
  const here = events.filter(({ name }) => candidates(definition, state, name).length > 0)
  const waits = here.some(({ name }) => candidates(definition, state, name).some((way) => !way.escape))
  const asked = neededFor(definition, state).flatMap((need) => approvalOf(need))
  // Guards that differ in how many they want ask for the same approval.
  const approvals = asked.filter(
    ({ role, of }, at) => asked.findIndex((other) => other.role === role && other.of === of) === at,
  )
  if (!waits && approvals.length === 0) return null
  return { events: here.map(({ name }) => name), approvals }
}

/** Whether only people may send an event. */
export function isForPeople({ roles }: ProcessDefinition, { allowedRoles }: EventDefinition): boolean {
  const human = new Set(roles.filter(({ kind }) => kind === 'human').map(({ name }) => name))
  return allowedRoles.length > 0 && allowedRoles.every((role) => human.has(role))
}

function approvalOf(need: Need): AwaitedDecision['approvals'] {
  return need.kind === 'approvals' ? [{ role: need.role, of: need.of }] : []
}
